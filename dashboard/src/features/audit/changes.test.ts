import { expect, it } from "vitest";
import type { Change } from "../../api/changes";
import { fieldChanges } from "../../ui/changes/changes";
import { actorInWords, flagNamesIn, subjectOf, verbOf } from "./changeSentences";

const change = (values: Partial<Change>): Change => ({
  id: "1",
  at: "2026-11-20T10:00:00.000000Z",
  actor: { id: null, email: null, token: null, release: null },
  action: "flag.updated",
  resource_id: "f",
  environment_id: "e",
  flag_id: "f",
  flag_key: "new-checkout",
  before: { id: "f", name: "New checkout", enabled: false, updated_at: "then" },
  after: { id: "f", name: "New checkout", enabled: true, updated_at: "now" },
  restores: null,
  batch: null,
  ...values,
});

it("describes a toggle and an update of the state alike", () => {
  expect(verbOf(change({}))).toBe("turned on");
  expect(verbOf(change({ action: "flag.toggled" }))).toBe("turned on");
  expect(subjectOf(change({}), new Map())).toBe("New checkout");
});

it("lists only the fields that changed", () => {
  expect(fieldChanges(change({}))).toEqual([{ field: "enabled", before: "Off", after: "On" }]);
  const rollout = change({ before: { rollout_percentage: 0 }, after: { rollout_percentage: 25 } });
  expect(fieldChanges(rollout)).toEqual([
    { field: "rollout_percentage", before: "Everyone (no rollout)", after: "25%" },
  ]);
  const onlyRules = change({
    before: { fallthrough: "off", rollout_percentage: 25 },
    after: { fallthrough: "off", rollout_percentage: 0 },
  });
  expect(fieldChanges(onlyRules)).toEqual([{ field: "rollout_percentage", before: "25%", after: "0%" }]);
});

it("names a rule's flag if it is known", () => {
  const rule = change({ action: "rule.created", before: null, after: { rule_type: "user_id", rule_value: "ada" } });
  expect(verbOf(rule)).toBe("added a rule to");
  expect(subjectOf(rule, new Map([["f", "New checkout"]]))).toBe("New checkout");
  expect(subjectOf(rule, new Map())).toBe("new-checkout");
  expect(subjectOf({ ...rule, flag_key: null }, new Map())).toBe("a deleted flag");
  expect(fieldChanges(rule)[0]).toEqual({ field: "rule_type", before: null, after: "User id" });
});

it("takes the names of flags from what was changed of the flags themselves, the newest first", () => {
  const rule = change({ action: "rule.created", before: null, after: { name: "Paying", rule_type: "user_id" } });
  const older = change({ after: { name: "Old checkout" } });
  const gone = change({ action: "flag.deleted", flag_id: "g", before: { name: "Gone" }, after: null });
  expect(flagNamesIn([rule, change({}), older, gone])).toEqual(
    new Map([
      ["f", "New checkout"],
      ["g", "Gone"],
    ]),
  );
});

it("says where a rule was moved, and no number", () => {
  const moved = (before: number, after: number) =>
    fieldChanges({
      before: { rule_type: "user_id", priority: before },
      after: { rule_type: "user_id", priority: after },
    });
  expect(moved(10, 20)).toEqual([{ field: "priority", before: null, after: "Checked earlier" }]);
  expect(moved(10, -20)).toEqual([{ field: "priority", before: null, after: "Checked later" }]);
  expect(moved(10, 10)).toEqual([]);
  expect(fieldChanges({ before: null, after: { priority: 5 } })).toEqual([]);
});

it("names the flag of a rule that has a name itself, and describes its conditions", () => {
  const conditions = [{ attribute: "plan", operator: "in", values: ["pro"] }];
  const rule = change({
    action: "rule.created",
    before: null,
    after: { name: "Paying", rule_type: "attributes", rule_value: null, rollout_percentage: 20, conditions },
  });
  expect(subjectOf(rule, new Map([["f", "New checkout"]]))).toBe("New checkout");
  expect(fieldChanges(rule).slice(-2)).toEqual([
    { field: "share", before: null, after: "20%" },
    { field: "conditions", before: null, after: "plan is pro" },
  ]);
});

it("names the values of a long condition that were removed and added", () => {
  const users = ["u-1", "u-2", "u-3", "u-4"];
  const list = (values: string[]) => [{ attribute: "user_id", operator: "in", values }];
  const edited = (before: string[], after: string[]) =>
    fieldChanges(
      change({ action: "segment.updated", before: { conditions: list(before) }, after: { conditions: list(after) } }),
    );
  const [shorter] = edited([...users, "u-77"], users);
  expect(shorter?.values).toEqual([{ condition: "the user id is one of 4 values", removed: ["u-77"], added: [] }]);
  // The number of values is the same.
  const [replaced] = edited(users, ["u-1", "u-2", "u-3", "u-9"]);
  expect(replaced?.values).toEqual([{ condition: "the user id is one of 4 values", removed: ["u-4"], added: ["u-9"] }]);
  expect(edited(users, [...users].reverse())).toEqual([]);
  // A sentence has room for three.
  expect(edited(["u-1"], ["u-1", "u-2"])).toEqual([
    { field: "conditions", before: "the user id is u-1", after: "the user id is one of u-1, u-2" },
  ]);
});

it("shows a condition with many values in sentences when more than its values changed", () => {
  const condition = { attribute: "user_id", operator: "in", values: ["1", "2", "3", "4"] };
  const edited = change({
    before: { conditions: [condition] },
    after: { conditions: [{ ...condition, negate: true }] },
  });
  expect(fieldChanges(edited)[0]?.values).toBeUndefined();
  expect(fieldChanges(edited)[0]?.before).toBe("the user id is one of 4 values");
});

it("does not mention the defaults of a new flag, but says when one is restored", () => {
  const defaults = { fallthrough: "rollout", stickiness: "default", bucketing_key: null, tags: [] };
  expect(fieldChanges(change({ before: null, after: defaults }))).toEqual([]);
  const restored = change({ before: { ...defaults, fallthrough: "off", tags: ["a", "b"] }, after: defaults });
  expect(fieldChanges(restored)).toEqual([
    { field: "fallthrough", before: "Off", after: "Rollout" },
    { field: "tags", before: "a, b", after: null },
  ]);
});

it("says what became of an account without repeating it by field", () => {
  const ordinary = { email: "eve@acme.com", is_administrator: false, deactivated_at: null };
  const account = { flag_id: null, environment_id: null, resource_id: "a" };
  const promotion = change({
    ...account,
    action: "account.promoted",
    before: ordinary,
    after: { ...ordinary, is_administrator: true },
  });
  expect(`${verbOf(promotion)} ${subjectOf(promotion, new Map())}`).toBe("made an administrator: eve@acme.com");
  expect(fieldChanges(promotion)).toEqual([]);
});

it("tells an account's own session from another's", () => {
  const ended = change({
    action: "account.session_ended",
    flag_id: null,
    resource_id: "a",
    before: { id: "s", account_id: "a", device: "Firefox", last_seen_at: "then" },
    after: null,
  });
  expect(
    subjectOf({ ...ended, actor: { id: "a", email: "ada@acme.com", token: null, release: null } }, new Map()),
  ).toBe("this account");
  expect(subjectOf(ended, new Map())).toBe("a");
  expect(fieldChanges(ended)).toEqual([{ field: "device", before: "Firefox", after: null }]);
});

it("shows an unknown action unchanged", () => {
  expect(verbOf(change({ action: "flag.painted", before: null }))).toBe("flag.painted");
});

it("says that a release has made a change, for whom, and which guard", () => {
  const actor = { id: "a", email: "ada@acme.com", token: null };
  const release = { id: "r", name: "Slow start", guard: null };
  expect(actorInWords({ ...actor, release: null })).toBe("ada@acme.com");
  expect(actorInWords({ ...actor, release })).toBe("Release Slow start, for ada@acme.com");
  expect(actorInWords({ ...actor, release: { ...release, guard: "checkout-error" } })).toBe(
    "Release Slow start (guard checkout-error), for ada@acme.com",
  );
  expect(actorInWords({ ...actor, release: { ...release, name: null } })).toBe("A release, for ada@acme.com");
});

it("names the flag of a release, and describes its steps and guards", () => {
  const made = change({
    action: "release.created",
    before: null,
    after: {
      name: "Slow start",
      state: "scheduled",
      reason: null,
      step: null,
      is_late: false,
      steps: [{ changes: { rollout_percentage: 5 }, at: null, after_seconds: 3600, least_users: null }],
      guards: [{ metric: "checkout-error", action: "turn_off", tolerates: 0 }],
    },
  });
  expect(`${verbOf(made)} ${subjectOf(made, new Map([["f", "New checkout"]]))}`).toBe(
    "created a release of New checkout",
  );
  expect(fieldChanges(made)).toEqual([
    { field: "name", before: null, after: "Slow start" },
    { field: "state", before: null, after: "scheduled" },
    { field: "steps", before: null, after: "Rollout 5% (1 hour after the previous step)" },
    { field: "guards", before: null, after: "checkout-error: turn off" },
  ]);
  const applied = change({ action: "release.step_applied", before: { step: 0 }, after: { step: 1 } });
  expect(fieldChanges(applied)).toEqual([{ field: "step", before: "1", after: "2" }]);
});

it("names values that were removed from a segment or added to one, and counts many", () => {
  const segment = (...values: string[]) => ({
    name: "Beta testers",
    conditions: [{ attribute: "user_id", operator: "in", values, case_insensitive: false, negate: false }],
  });
  const verb = (before: string[], after: string[], action = "segment.updated") =>
    verbOf(change({ action, before: segment(...before), after: segment(...after) }));
  expect(verb(["u-7", "u-77"], ["u-7"])).toBe("removed u-77 from the segment");
  expect(verb(["u-7"], ["u-7", "u-8", "u-9"])).toBe("added u-8, u-9 to the segment");
  expect(verb([], ["a", "b", "c", "d"])).toBe("added 4 values to the segment");
  expect(verb(["u-7"], ["u-8"])).toBe("changed the segment");
  expect(verb(["u-7", "u-8"], ["u-8"], "rule.updated")).toBe("removed u-7 from a rule of");
});

it("names the metric and the action of a threshold, and shows no object as one", () => {
  const release = (after: Record<string, unknown>) => change({ action: "release.created", before: null, after });
  const thresholds = [{ request_metric: "errors", measure: "rate", action: "turn_off", minutes: 5, above: 5 }];
  expect(fieldChanges(release({ thresholds }))).toEqual([
    { field: "thresholds", before: null, after: "errors: turn off" },
  ]);
  expect(fieldChanges(release({ unheard_of: [{ a: 1 }] }))[0]?.after).toBe('{"a":1}');
});

it("leaves out what is empty", () => {
  expect(fieldChanges({ before: null, after: { role: "editor", environments: {} } })).toEqual([
    { field: "role", before: null, after: "editor" },
  ]);
});
