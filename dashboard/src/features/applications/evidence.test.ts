import { expect, it } from "vitest";
import { isNews, evidenceOfApplications, evidenceOfEvaluation } from "./evidence";

const NOON = Date.parse("2026-11-22T12:00:00Z");
const evaluation = {
  id: "1",
  evaluated_at: "2026-11-22T11:00:00Z",
  user_id: "user-42",
  user_email: null,
  enabled: true,
};
const old = evidenceOfEvaluation(evaluation);

it("says for whom a flag was evaluated, and with what result", () => {
  expect(old?.words).toBe("Evaluated for user-42: on.");
  expect(evidenceOfEvaluation({ ...evaluation, user_id: null, enabled: false })?.words).toBe(
    "Evaluated for a user without id and email: off.",
  );
  expect(evidenceOfEvaluation({ ...evaluation, variant: "blue" })?.words).toContain("on, with the variant blue");
  expect(evidenceOfEvaluation(null)).toBeNull();
});

it("takes nothing, and what was there before, for no news", () => {
  expect(isNews(null, null, NOON)).toBe(false);
  expect(isNews(old, old, NOON)).toBe(false);
});

it("takes the first one, another one, and a recent one for news", () => {
  expect(isNews(old, null, NOON)).toBe(true);
  expect(isNews(evidenceOfEvaluation({ ...evaluation, id: "2" }), old, NOON)).toBe(true);
  expect(isNews(old, old, NOON - 3_599_000)).toBe(true);
});

it("shows the newest of what applications fetched and reported", () => {
  const fetched = {
    application: "shop",
    instance: "one",
    connection: "c",
    sdk: "node:6",
    streams: false,
    revision: 1,
    is_current: true,
    seen_at: "2026-11-22T12:00:00Z",
    due_at: null,
  };
  const reported = {
    start: "2026-11-22T12:00:00Z",
    flag_key: "f",
    application: "shop",
    sdk: "node:6",
    yes: 1200,
    no: 1,
    variants: {},
    reported_at: "2026-11-22T12:00:30Z",
  };
  expect(evidenceOfApplications([], [])).toBeNull();
  expect(evidenceOfApplications([fetched], [])?.words).toBe("shop (node:6) has fetched the flags.");
  expect(evidenceOfApplications([fetched], [reported])?.words).toBe("shop (node:6) reported it: 1,200 on, 1 off.");
  const later = { ...fetched, seen_at: "2026-11-22T12:01:00Z" };
  expect(evidenceOfApplications([later, fetched], [reported])?.at).toBe(later.seen_at);
});
