import { expect, it } from "vitest";
import type { Flag, Rule } from "../../api/client";
import { filterOf, recordsRules } from "./historyFilter";

const flag = { variants: [], prerequisites: [] } as unknown as Flag;
const rule = { enabled: true, rule_type: "user_id", conditions: [], rollout_percentage: 100 } as unknown as Rule;

it("knows that rules are recorded only where users are not just looked up", () => {
  expect(recordsRules(flag, [])).toBe(false);
  expect(recordsRules(flag, [rule, { ...rule, rule_type: "segment", enabled: false }])).toBe(false);
  expect(recordsRules(flag, [rule, { ...rule, rollout_percentage: 20 }])).toBe(true);
  expect(recordsRules(flag, [{ ...rule, rule_type: "attributes" }])).toBe(true);
  expect(recordsRules({ ...flag, prerequisites: [{ flag_key: "other" }] }, [rule])).toBe(true);
});

it("reads the variant and the rule from the URL", () => {
  const filter = filterOf({ variant: "red", rule: "01a1fb68" }, "checkout", "UTC");
  expect([filter.variant, filter.ruleId, filter.flagKey]).toEqual(["red", "01a1fb68", "checkout"]);
});
