import { describe, expect, it } from "vitest";
import type { Rule } from "../../api/client";
import type { Release } from "./releasesCalls";
import { digits } from "../../ui/digits";
import {
  armInWords,
  changesInWords,
  conditionInWords,
  evidenceInWords,
  isObserved,
  isSchedule,
  nameOf,
  percent,
  spanInWords,
  stepsOf,
  thresholdInWords,
} from "./releases";

const applied = (step: number, values: Partial<Release["applied"][number]> = {}): Release["applied"][number] => ({
  step,
  at: `2026-11-20T1${step}:00:00Z`,
  due_at: `2026-11-20T1${step}:00:00Z`,
  late: false,
  skipped: false,
  folded: [],
  arms: null,
  ...values,
});

const release = (values: Partial<Release>): Release => ({
  id: "r",
  project_id: "p",
  environment_id: "e",
  flag_id: "f",
  name: null,
  steps: [5, 25, 50, 100].map((percentage) => ({
    after_seconds: 3600,
    changes: { rollout_percentage: percentage },
  })),
  guards: [{ metric: "error", action: "turn_off", tolerates: 0, tolerates_amount: 0 }],
  thresholds: [],
  false_alarm_rate: 0.05,
  when_late: "run",
  split_action: "pause",
  counts: "all",
  unwatched_since: null,
  state: "running",
  reason: null,
  author: { id: "a", email: "ada@acme.com", token: null },
  applied: [applied(0), applied(1)],
  alarms: [],
  next_step: 2,
  due_at: "2026-11-20T12:00:00Z",
  ended_at: null,
  created_at: "2026-11-20T09:00:00Z",
  updated_at: "2026-11-20T11:00:00Z",
  ...values,
});

describe("the steps of a release", () => {
  it("are done, now, next and later", () => {
    const steps = stepsOf(release({}));
    expect(steps.map(({ state }) => state)).toEqual(["done", "now", "next", "later"]);
    expect(steps.map(({ at }) => at)).toEqual(["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z", null, null]);
    expect(steps.map(({ due }) => due)).toEqual([null, null, "2026-11-20T12:00:00Z", null]);
  });

  it("are never applied after the end", () => {
    const steps = stepsOf(release({ state: "cancelled", next_step: null, due_at: null }));
    expect(steps.map(({ state }) => state)).toEqual(["done", "done", "never", "never"]);
  });

  it("were late, skipped, or applied together with a later one", () => {
    const late = stepsOf(release({ applied: [applied(0), applied(2, { late: true, folded: [1] })], next_step: 3 }));
    expect(late.map(({ state, isLate, foldedInto }) => [state, isLate, foldedInto])).toEqual([
      ["done", false, null],
      ["done", true, 2],
      ["now", true, null],
      ["next", false, null],
    ]);
    const skipped = stepsOf(release({ applied: [applied(0), applied(1, { late: true, skipped: true })] }));
    expect(skipped.map(({ state }) => state)).toEqual(["now", "skipped", "next", "later"]);
  });

  it("keep the time at which they were first applied, also after a conflict", () => {
    const [, second] = stepsOf(release({ applied: [applied(0), applied(1), applied(1, { at: "later" })] }));
    expect(second?.at).toBe("2026-11-20T11:00:00Z");
  });

  it("say when they begin", () => {
    const step = { changes: {}, after_seconds: 5400, least_users: 500 };
    expect(conditionInWords({ step, place: 2 })).toBe("90 minutes after step 2, and after 500 users");
    expect(conditionInWords({ step: { changes: {}, after_seconds: 60 }, place: 0 })).toBe(
      "1 minute after it was created",
    );
    expect(conditionInWords({ step: { changes: {}, after_seconds: 0 }, place: 0 })).toBe("immediately");
    expect(conditionInWords({ step: { changes: {}, after_seconds: 0 }, place: 1 })).toBe("right after step 1");
  });
});

describe("what a step changes", () => {
  const rule = { id: "r1", name: "Staff" } as Rule;

  it("is said in words", () => {
    expect(changesInWords({ enabled: true, rollout_percentage: 25 }, [])).toBe("Turn on, 25% of users");
    expect(changesInWords({ rollout_percentage: 0 }, [])).toBe("Everyone (no rollout)");
    const variants = [
      { key: "blue", weight: 1, value: true },
      { key: "green", weight: 2, value: false },
    ];
    expect(changesInWords({ variants }, [])).toBe("blue 33.3%, green 66.7%");
    expect(changesInWords({ bucketing_key: "x" }, [])).toBe("Set bucketing key");
  });

  it("names the rules", () => {
    const rules = [
      { id: "r1", enabled: false },
      { id: "r2", delete: true as const },
      { rule_type: "user_id" as const, rule_value: "u" },
    ];
    expect(changesInWords({ rules }, [rule])).toBe(
      "Turn off the rule Staff, Delete the rule that was deleted, Add a rule",
    );
  });
});

it("is named by what it is if it has no name", () => {
  const schedule = { name: null, guards: [], thresholds: [], steps: [{ changes: { enabled: true } }] };
  expect([nameOf(schedule), isSchedule(schedule), isObserved(schedule)]).toEqual(["Schedule", true, false]);
  expect(nameOf(release({}))).toBe("Release");
  expect(nameOf(release({ name: "Slow start" }))).toBe("Slow start");
  expect(isObserved({ guards: [], steps: [{ changes: {} }, { changes: {}, least_users: 9 }] })).toBe(true);
});

it("says what a threshold limits", () => {
  const errors = {
    request_metric: "errors",
    measure: "per_minute",
    labels: { "new-checkout": "enabled" },
    above: 5,
    below: null,
    minutes: 5,
    action: "turn_off",
  } as const;
  expect(thresholdInWords(errors)).toBe("errors (new-checkout: enabled), per minute, over 5 minutes, above 5");
  const orders = { ...errors, labels: {}, above: null, below: 0.5, minutes: 1 };
  expect(thresholdInWords(orders)).toBe("errors, per minute, over 1 minute, below 0.5");
});

it("says spans in the largest unit of which they are a whole number", () => {
  expect([45, 60, 5400, 7200, 86_400, 172_800].map(spanInWords)).toEqual([
    "45 seconds",
    "1 minute",
    "90 minutes",
    "2 hours",
    "1 day",
    "2 days",
  ]);
});

it("writes numbers with three digits that count", () => {
  expect([0, 0.000312, 0.0312, 1.416, 1234.5, 1e9, 1e-9].map(digits)).toEqual([
    "0",
    "0.000312",
    "0.0312",
    "1.42",
    "1,235",
    "1.0e+9",
    "1.0e-9",
  ]);
  expect([percent(0.014), percent(1)]).toEqual(["1.4%", "100%"]);
});

it("names arms as people do", () => {
  expect(["on", "off", "blue"].map(armInWords)).toEqual(["With the flag", "Without the flag", "With blue"]);
});

it("does not say how far evidence is beyond all doubt", () => {
  expect([0, 0.5, 40, 1e18].map(evidenceInWords)).toEqual(["less than 0.01", "0.5", "40", "more than 1,000,000"]);
});
