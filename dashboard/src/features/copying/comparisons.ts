/** Describes comparisons of environments, and the alterations of a copy, in words. */

import { texts as textsIn } from "../../ui/search";
import type { Comparison, CopyAlteration } from "./comparisonsCalls";
import type { Environment, Rule } from "../../api/client";
import { compare as texts } from "./compareTexts";
import { type FieldChange, fieldChanges } from "../../ui/changes/changes";
import { inWords, ruleParts } from "../../ui/conditions/conditions";

type RuleContent = Pick<
  Rule,
  "rule_type" | "rule_value" | "conditions" | "priority" | "enabled" | "name" | "rollout_percentage" | "variant"
>;

export interface CompareSearch {
  readonly from?: string;
  readonly to?: string;
}

export const toCompareSearch = (raw: Readonly<Record<string, unknown>>): CompareSearch => textsIn(raw, "from to");

/**
 * The environments of the URL, or else a less critical one as the target, because flags are copied to it; null if there
 * are not two. If both are equally critical, the first one is the origin.
 */
export function chosenPair(environments: readonly Environment[], search: CompareSearch) {
  const byRisk = environments.toSorted((a, b) => Number(b.critical) - Number(a.critical));
  const to = environments.find((each) => each.id === search.to && each.id !== search.from);
  const origin = environments.find((each) => each.id === search.from) ?? byRisk.find((each) => each.id !== to?.id);
  const others = byRisk.filter((each) => each.id !== origin?.id);
  const target = to ?? others.find((each) => !each.critical) ?? others[0];
  return target && origin ? { origin, target } : null;
}

/** The differing fields, except rules. `before` is the value in the one environment, `after` that in the other. */
export function differingFields({ fields }: Comparison): FieldChange[] {
  return fieldChanges(sidesOf(fields.filter((each) => each.field !== "rules")));
}

/** The rules of both sides in words, in their order. If nothing else differs, it says which have other priorities. */
export function differingRules({ fields }: Comparison): { from: string[]; to: string[] } | null {
  const found = fields.find((each) => each.field === "rules");
  if (!found) return null;
  const [from, to] = [found.from as RuleContent[], found.to as RuleContent[]];
  const words = { from: from.map(ruleInWords), to: to.map(ruleInWords) };
  if (words.from.join("\n") !== words.to.join("\n")) return words;
  const marked = (rule: RuleContent, place: number) =>
    ruleInWords(rule) + (rule.priority === from[place]?.priority ? "" : `, ${texts.otherPriority}`);
  return { from: words.from, to: to.map(marked) };
}

export function ruleInWords(rule: RuleContent): string {
  return [
    (rule.name ? `${rule.name}: ` : "") + inWords(ruleParts(rule)),
    ...(rule.rollout_percentage < 100 ? [texts.share(rule.rollout_percentage)] : []),
    ...(rule.variant !== null ? [texts.variant(rule.variant)] : []),
    ...(rule.enabled ? [] : [texts.off]),
  ].join(", ");
}

export function alteredFields({ action, fields }: CopyAlteration): FieldChange[] {
  // The type distinguishes rules from other values.
  const same = action.startsWith("rule.") ? { rule_type: "attributes" } : {};
  const before = { ...same, ...Object.fromEntries(fields.map((each) => [each.field, each.before])) };
  const after = { ...same, ...Object.fromEntries(fields.map((each) => [each.field, each.after])) };
  if (action.endsWith(".created")) return fieldChanges({ before: null, after });
  return fieldChanges({ before, after: action.endsWith(".deleted") ? null : after });
}

/** The alterations that a copy makes, by flag, in the order of the response. */
export function byFlag(alterations: readonly CopyAlteration[]): Map<string, CopyAlteration[]> {
  const found = new Map<string, CopyAlteration[]>();
  for (const each of alterations) found.set(each.flag_key, [...(found.get(each.flag_key) ?? []), each]);
  return found;
}

function sidesOf(fields: Comparison["fields"]) {
  return {
    before: Object.fromEntries(fields.map((each) => [each.field, each.from])),
    after: Object.fromEntries(fields.map((each) => [each.field, each.to])),
  };
}
