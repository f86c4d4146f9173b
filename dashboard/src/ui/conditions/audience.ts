/** Describes for which users a flag is on. Only the server evaluates flags. */

import { audienceTexts } from "./audienceTexts";
import type { Flag, Prerequisite, Rule } from "../../api/client";
import { common } from "../commonTexts";
import { conditionsTexts } from "./conditionsTexts";
import { inWords, ruleParts } from "./conditions";

export const AUDIENCES = ["any", "everyone", "rollout", "rules", "only"] as const;
export type Audience = (typeof AUDIENCES)[number];

export const DEFAULT_STICKINESS = "default";

type Targeted = Pick<Flag, "enabled" | "rollout_percentage" | "fallthrough" | "stickiness" | "prerequisites">;

/** The enabled rules of a flag, as far as its audience depends on them. */
export interface RulesInForce {
  readonly count: number;
  /** Whether a rule includes only a percentage of the users who match it. */
  readonly areShares: boolean;
}

export function rulesInForceOf(rules: readonly Pick<Rule, "enabled" | "rollout_percentage">[]): RulesInForce {
  const enabled = rules.filter((rule) => rule.enabled);
  return { count: enabled.length, areShares: enabled.some((rule) => rule.rollout_percentage < 100) };
}

/** A short form for lists, with only the numbers of prerequisites and rules. */
type Brief = Pick<Flag, "rollout_percentage" | "fallthrough"> & { readonly prerequisites: { readonly length: number } };
type Counted = Pick<RulesInForce, "count">;

/** In a list's row: "2 rules, then 25%". At 0 there is no rollout and the flag is on for everyone. */
export function audienceInShort(flag: Brief, rules: Counted): string {
  const audience = withoutPrerequisites(flag, rules);
  return flag.prerequisites.length > 0
    ? audienceTexts.withPrerequisites(audience, flag.prerequisites.length)
    : audience;
}

function withoutPrerequisites(flag: Brief, { count }: Counted): string {
  const percentage = flag.rollout_percentage;
  if (flag.fallthrough === "off") return count > 0 ? audienceTexts.rulesOnly(count) : audienceTexts.nobody;
  if (count > 0) return audienceTexts.rulesThen(count, percentage);
  return percentage === 0 ? audienceTexts.everyone : audienceTexts.share(percentage);
}

/** As a sentence, below the large switch. */
export function audienceInFull(flag: Targeted, rules: RulesInForce): string {
  if (!flag.enabled) return audienceTexts.offText;
  const sentence = sentenceOf(flag, rules);
  const needed = flag.prerequisites.map(prerequisiteInWords).join(conditionsTexts.and);
  return needed ? `${sentence} ${audienceTexts.needs(needed)}` : sentence;
}

/** A prerequisite in words: "new-payment is on with blue or green". */
export function prerequisiteInWords({ flag_key: key, enabled = true, variants = [] }: Prerequisite): string {
  if (variants.length > 0) return audienceTexts.prerequisite.variants(key, variants.join(common.or));
  return enabled ? audienceTexts.prerequisite.on(key) : audienceTexts.prerequisite.off(key);
}

function sentenceOf(flag: Targeted, { count, areShares }: RulesInForce): string {
  if (flag.fallthrough === "off") {
    if (count === 0) return audienceTexts.onNobody;
    return areShares ? audienceTexts.onSharesOnly : audienceTexts.onRulesOnly;
  }
  const percentage = flag.rollout_percentage;
  if (percentage === 0) return count > 0 ? audienceTexts.onRulesAndEveryone : audienceTexts.onEveryone;
  if (count > 0)
    return areShares ? audienceTexts.onSharesAndRollout(percentage) : audienceTexts.onRulesAndRollout(percentage);
  if (flag.stickiness === DEFAULT_STICKINESS) return audienceTexts.onRollout(percentage);
  return audienceTexts.onRolloutBy(percentage, flag.stickiness);
}

export function isAudience(flag: Targeted, { count }: RulesInForce, wanted: Audience): boolean {
  const isOnly = flag.fallthrough === "off";
  switch (wanted) {
    case "any":
      return true;
    case "everyone":
      return !isOnly && flag.rollout_percentage === 0 && count === 0;
    case "rollout":
      return !isOnly && flag.rollout_percentage > 0;
    case "rules":
      return count > 0;
    case "only":
      return isOnly;
  }
}

/** A rule's name, or else the users that it matches. */
export function ruleInWords(rule: Pick<Rule, "name" | "rule_type" | "rule_value" | "conditions">): string {
  return rule.name ?? inWords(ruleParts(rule));
}
