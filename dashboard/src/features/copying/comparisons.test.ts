import { expect, test } from "vitest";
import type { Comparison, CopyAlteration } from "./comparisonsCalls";
import { alteredFields, byFlag, chosenPair, differingFields, differingRules, ruleInWords } from "./comparisons";

const RULE = {
  rule_type: "user_id",
  rule_value: "ada",
  priority: 0,
  enabled: true,
  name: null,
  conditions: [],
  rollout_percentage: 100,
  variant: null,
} as const;

function environment(id: string) {
  return { id, name: id, key: id, created_at: "2026-11-20T10:00:00Z", critical: false, history_retention_days: null };
}

function alteration(action: string, fields: CopyAlteration["fields"] = []): CopyAlteration {
  return { change_id: "7", action, resource_id: "r", flag_id: "f", flag_key: "checkout", fields };
}

test("the target is a less critical environment unless others are chosen", () => {
  const [a, b, c] = [environment("a"), environment("b"), environment("c")];
  const all = [a, b, c];
  const live = { ...b, critical: true, history_retention_days: null };
  expect(chosenPair([a, live, c], {})).toEqual({ origin: live, target: a });
  expect(chosenPair([live, { ...c, critical: true, history_retention_days: null }, a], {})).toEqual({
    origin: live,
    target: a,
  });
  expect(chosenPair([a, live], { to: "b" })).toEqual({ origin: a, target: live });
  expect(chosenPair(all, {})).toEqual({ origin: a, target: b });
  expect(chosenPair(all, { from: "c" })).toEqual({ origin: c, target: a });
  expect(chosenPair(all, { from: "a", to: "c" })).toEqual({ origin: a, target: c });
  expect(chosenPair(all, { from: "a", to: "a" })).toEqual({ origin: a, target: b });
  expect(chosenPair(all, { from: "gone", to: "b" })).toEqual({ origin: a, target: b });
  expect(chosenPair([a], {})).toBeNull();
});

test("differing fields are in words, and rules are apart", () => {
  const item = {
    fields: [
      { field: "enabled", from: true, to: false },
      { field: "tags", from: ["a"], to: [] },
      { field: "rules", from: [RULE], to: [] },
    ],
  } as unknown as Comparison;
  expect(differingFields(item)).toEqual([
    { field: "enabled", before: "On", after: "Off" },
    { field: "tags", before: "a", after: null },
  ]);
  expect(differingRules(item)).toEqual({ from: ["If the user id is ada"], to: [] });
});

test("a rule says all that distinguishes it", () => {
  expect(ruleInWords({ ...RULE, conditions: [] })).toBe("If the user id is ada");
  const rule = { ...RULE, conditions: [], name: "Few", enabled: false, rollout_percentage: 5, variant: "red" };
  expect(ruleInWords(rule)).toBe("Few: If the user id is ada, for 5% of them, gives red, off");
});

test("priorities are named only of rules that differ in nothing else", () => {
  const eve = { ...RULE, rule_value: "eve", priority: -5 };
  const from = [RULE, eve];
  const item = { fields: [{ field: "rules", from, to: [{ ...RULE, priority: 5 }, eve] }] } as unknown as Comparison;
  expect(differingRules(item)).toEqual({
    from: ["If the user id is ada", "If the user id is eve"],
    to: ["If the user id is ada, in the same place, with another priority", "If the user id is eve"],
  });
});

test("the share of a rule is not a rollout", () => {
  const fields = [{ field: "rollout_percentage", before: 100, after: 50 }];
  expect(alteredFields(alteration("rule.updated", fields))[0]?.field).toBe("share");
  expect(alteredFields(alteration("flag.updated", fields))[0]?.field).toBe("rollout_percentage");
});

test("the alterations of a copy are shown by flag", () => {
  expect(byFlag([alteration("flag.updated"), alteration("rule.created")]).get("checkout")).toHaveLength(2);
});
