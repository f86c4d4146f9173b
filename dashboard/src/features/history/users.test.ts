import { expect, it } from "vitest";
import type { Summary } from "./historyCalls";
import type { Rule } from "../../api/client";
import { accuracyInWords, daysOf, usersByRule, usersByVariant, usersInWords } from "./users";
import { firstDay } from "../../ui/charts/periods";

const exact = { on: 3, off: 1, error: 0 };
const estimate = { on: 5120, off: 20480, error: 0.01625 };
const interval = { on: 3, off: 1, reasons: {}, off_reasons: [] };
const summary: Summary = {
  since: "2026-11-14T00:00:00.000000Z",
  until: "2026-11-17T00:00:00.000000Z",
  interval: "1d",
  predecessors: [],
  tz: "UTC",
  distinct_users: estimate,
  flags: {
    search: [
      { start: "2026-11-14T00:00:00.000000Z", ...interval, distinct_users: exact },
      { start: "2026-11-16T00:00:00.000000Z", ...interval, distinct_users: null },
    ],
  },
};

it("lists every day, newest first: nobody on a day without evaluations, and null where nothing is known yet", () => {
  expect(daysOf(summary, "search").map((each) => each.users)).toEqual([null, { on: 0, off: 0, error: 0 }, exact]);
  expect(daysOf(summary, "other").map((each) => each.users?.on)).toEqual([0, 0, 0]);
});

it("starts six days before today, at midnight UTC", () => {
  expect(firstDay(Date.parse("2026-11-20T23:59:59Z"))).toBe("2026-11-14T00:00:00.000Z");
});

it("marks estimates and states their error", () => {
  expect([usersInWords(5120, 0.0163), usersInWords(12, 0), usersInWords(0, 0.0163)]).toEqual(["≈5,120", "12", "0"]);
  expect(accuracyInWords([exact, null])).toContain("exact");
  expect(accuracyInWords([exact, estimate])).toContain("1.6%");
});

it("names the users of each variant and rule, the most frequent first, also where the rule is deleted or not recorded", () => {
  const users = {
    ...exact,
    variants: { red: 1, blue: 2 },
    rules: { "rule-1": 1, "rule-2": 3 },
    reasons: { Listed: 2 },
  };
  const rule = { id: "rule-1", rule_type: "user_id", rule_value: "ada", name: null, conditions: [] } as unknown as Rule;
  expect(usersByVariant(users).map(({ name }) => name)).toEqual(["blue", "red"]);
  const named = usersByRule(users, [rule]);
  expect(named.map((each) => each.users)).toEqual([3, 2, 1]);
  expect(named[0]?.name).toContain("rule-2");
  expect(named[1]?.name).toBe("Listed");
  expect(named[2]?.name).toContain("ada");
  expect([...usersByVariant(exact), ...usersByRule(exact, [])]).toEqual([]);
});
