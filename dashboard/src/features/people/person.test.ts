import { describe, expect, it } from "vitest";
import type { Evaluation } from "../history/historyCalls";
import {
  type Answers,
  boundsOf,
  contextFor,
  lastDays,
  meantBy,
  newestOf,
  rowsOf,
  toPersonSearch,
  weekday,
  withId,
} from "./person";

function part(keys: readonly string[], next_after: string | null = null): Answers {
  const items = keys.map((flag_key) => ({
    flag_key,
    flag_id: flag_key,
    enabled: true,
    reason: "Flag enabled globally",
    variant: null,
    decided_by: { step: "everyone" as const, prerequisite: null, rule_id: null, rule_name: null },
  }));
  return { environment_key: "production", evaluated_at: "2026-11-23T10:00:00Z", items, next_after };
}

function evaluation(evaluated_at: string, values: Partial<Evaluation> = {}): Evaluation {
  return { id: evaluated_at, evaluated_at, user_id: "42", user_email: null, flags: {}, ...values };
}

describe("the search in the URL", () => {
  it("reads numbers as ids and leaves out what is no day", () => {
    expect(toPersonSearch({ id: 42, day: "tuesday", environment: "", other: 1 })).toEqual({ id: "42" });
    expect(toPersonSearch({ email: " a@b.c ", day: "2026-11-17" })).toEqual({ email: "a@b.c", day: "2026-11-17" });
    expect(toPersonSearch({ day: "2026-19-17" })).toEqual({});
    expect(toPersonSearch({ day: "0002-11-17" })).toEqual({});
  });

  it("takes a text for an id, and also for an email if it looks like one", () => {
    expect(meantBy("  ")).toEqual([]);
    expect(meantBy(" user-42 ")).toEqual([{ id: "user-42" }]);
    expect(meantBy("ada@acme.com")).toEqual([{ email: "ada@acme.com" }, { id: "ada@acme.com" }]);
  });
});

describe("days", () => {
  it("are local, and end where the next one begins", () => {
    const { since = "", until = "" } = boundsOf("2026-11-17");
    expect(new Date(since).getHours()).toBe(0);
    expect(boundsOf("2026-11-18").since).toBe(until);
    expect(boundsOf(undefined)).toEqual({});
  });

  it("have names", () => expect(weekday("2026-11-17")).toBe("Tue, Nov 17"));

  it("count back from today", () => {
    expect(lastDays(new Date("2026-03-01T12:00:00").getTime(), 3)).toEqual(["2026-03-01", "2026-02-28", "2026-02-27"]);
  });
});

describe("the context", () => {
  it("has what the newest evaluation recorded, and the given user", () => {
    const newest = newestOf([evaluation("2026-11-20T10:00:00Z"), null, evaluation("2026-11-21T10:00:00Z")]);
    expect(newest?.id).toBe("2026-11-21T10:00:00Z");
    const recorded = evaluation("x", { user_email: "a@b.c", attributes: { plan: "gold" } });
    expect(contextFor({ id: "7" }, recorded)).toEqual({
      user_id: "7",
      user_email: "a@b.c",
      custom_attributes: { plan: "gold" },
    });
    expect(contextFor({ email: "d@e.f" }, null)).toEqual({ user_id: null, user_email: "d@e.f" });
  });
});

describe("the id of an email", () => {
  it("is the one that was recorded with it, unless an id was given", () => {
    const recorded = evaluation("2026-11-23T10:00:00Z", { user_id: "7", user_email: "d@e.f" });
    expect(withId({ email: "d@e.f" }, recorded)).toEqual({ email: "d@e.f", id: "7" });
    expect(withId({ email: "d@e.f" }, { ...recorded, user_id: null })).toEqual({ email: "d@e.f" });
    expect(withId({ email: "d@e.f" }, null)).toEqual({ email: "d@e.f" });
    expect(withId({ id: "42" }, recorded)).toEqual({ id: "42" });
  });
});

describe("rows of several environments", () => {
  it("have a place for each environment", () => {
    const { rows, next } = rowsOf([part(["a", "c"]), part(["b", "c"])]);
    expect(next).toBeNull();
    expect(rows.map(({ key, answers }) => [key, ...answers.map((each) => each !== null)])).toEqual([
      ["a", true, false],
      ["b", false, true],
      ["c", true, true],
    ]);
  });

  it("end where an environment may have more", () => {
    const { rows, next } = rowsOf([part(["a", "b"], "b"), part(["a", "d"], "d"), part(["c"])]);
    expect(rows.map(({ key }) => key)).toEqual(["a", "b"]);
    expect(next).toBe("b");
  });
});
