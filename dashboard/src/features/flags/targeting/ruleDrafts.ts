/** A rule as it is edited. */

import type { Rule, RuleFields, RuleType } from "../../../api/client";
import { type ConditionDraft, conditionOf, draftOf, NEW_CONDITION } from "../../../ui/conditions/conditionDrafts";
import { priorityAtEnd } from "./priorities";

export const TYPES: readonly RuleType[] = ["user_id", "user_email", "email_domain", "segment", "attributes"];

export interface RuleDraft {
  readonly rule_type: RuleType;
  readonly rule_value: string;
  readonly conditions: ConditionDraft[];
  /** Empty if the weights decide. */
  readonly variant: string;
  readonly name: string;
  readonly priority: number;
  readonly enabled: boolean;
}

export function newRuleDraft(rules: readonly Rule[]): RuleDraft {
  const priority = priorityAtEnd(rules);
  return { rule_type: "user_email", rule_value: "", conditions: [], variant: "", name: "", priority, enabled: true };
}

export function ruleDraftOf(rule: Rule): RuleDraft {
  const { rule_type, priority, enabled } = rule;
  return {
    rule_type,
    rule_value: rule.rule_value ?? "",
    conditions: rule.conditions.map(draftOf),
    variant: rule.variant ?? "",
    name: rule.name ?? "",
    priority,
    enabled,
  };
}

export function ruleOf(draft: RuleDraft): RuleFields {
  return {
    ...draft,
    rule_value: draft.rule_type === "attributes" ? null : draft.rule_value,
    conditions: draft.conditions.map(conditionOf),
    variant: draft.variant || null,
    name: draft.name.trim() || null,
  };
}

/** Another type keeps a value that is typed. A rule for attributes starts with a condition. */
export function withType(draft: RuleDraft, type: RuleType): RuleDraft {
  const isTyped = (each: RuleType) => each !== "segment" && each !== "attributes";
  return {
    ...draft,
    rule_type: type,
    rule_value: isTyped(draft.rule_type) && isTyped(type) ? draft.rule_value : "",
    conditions: type === "attributes" && draft.conditions.length === 0 ? [NEW_CONDITION] : draft.conditions,
  };
}
