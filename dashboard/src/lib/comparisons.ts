/** Puts comparisons of environments, and what a copy alters, into words. */

import type { Comparison, CopyAlteration } from "../api/comparisons";
import type { Environment, Rule } from "../api/client";
import { compare as texts } from "../texts/compare";
import { type FieldChange, fieldChanges } from "./changes";
import { inWords, ruleParts } from "./conditions";

type RuleContent = Pick<
  Rule,
  "rule_type" | "rule_value" | "conditions" | "priority" | "enabled" | "name" | "rollout_percentage" | "variant"
>;

export interface CompareSearch {
  readonly from?: string;
  readonly to?: string;
}

/** The environments of the URL, or else the second and the first one; null if there are not two. */
export function chosenPair(environments: readonly Environment[], search: CompareSearch) {
  const to = environments.find((each) => each.id === search.to && each.id !== search.from);
  const from = environments.find((each) => each.id === search.from);
  const target = to ?? environments.find((each) => each.id !== from?.id);
  const origin = from ?? environments.find((each) => each.id !== target?.id);
  return target && origin ? { origin, target } : null;
}

/** The differing fields but rules. `before` is the value in the one environment, `after` that in the other. */
export function differingFields({ fields }: Comparison): FieldChange[] {
  return fieldChanges(sidesOf(fields.filter((each) => each.field !== "rules")));
}

export function differingRules({ fields }: Comparison): { from: RuleContent[]; to: RuleContent[] } | null {
  const found = fields.find((each) => each.field === "rules");
  return found ? { from: found.from as RuleContent[], to: found.to as RuleContent[] } : null;
}

export function ruleInWords(rule: RuleContent): string {
  return [
    (rule.name ? `${rule.name}: ` : "") + inWords(ruleParts(rule)),
    ...(rule.rollout_percentage < 100 ? [texts.share(rule.rollout_percentage)] : []),
    ...(rule.variant !== null ? [texts.variant(rule.variant)] : []),
    ...(rule.enabled ? [] : [texts.off]),
    texts.priority(rule.priority),
  ].join(", ");
}

export function alteredFields({ action, fields }: CopyAlteration): FieldChange[] {
  // By its type, a rule is known as one.
  const same = action.startsWith("rule.") ? { rule_type: "attributes" } : {};
  const before = { ...same, ...Object.fromEntries(fields.map((each) => [each.field, each.before])) };
  const after = { ...same, ...Object.fromEntries(fields.map((each) => [each.field, each.after])) };
  if (action.endsWith(".created")) return fieldChanges({ before: null, after });
  return fieldChanges({ before, after: action.endsWith(".deleted") ? null : after });
}

/** What a copy alters by flag, in the order in which it was told. */
export function byFlag(alterations: readonly CopyAlteration[]): Map<string, CopyAlteration[]> {
  const found = new Map<string, CopyAlteration[]>();
  for (const each of alterations) found.set(each.flag_key, [...(found.get(each.flag_key) ?? []), each]);
  return found;
}

/** The changes to restore to undo a copy; none if it has created something, which is not restored. */
export function undoable(alterations: readonly CopyAlteration[]): string[] {
  if (alterations.length > 20 || alterations.some((each) => each.action.endsWith(".created"))) return [];
  return alterations.flatMap((each) => each.change_id ?? []);
}

function sidesOf(fields: Comparison["fields"]) {
  return {
    before: Object.fromEntries(fields.map((each) => [each.field, each.from])),
    after: Object.fromEntries(fields.map((each) => [each.field, each.to])),
  };
}
