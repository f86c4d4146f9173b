/** Describes for which users a flag is on. Only the server evaluates flags. */

import type { Flag, Rule } from "../api/client";
import { t } from "../texts";

export const AUDIENCES = ["any", "everyone", "rollout", "rules"] as const;
export type Audience = (typeof AUDIENCES)[number];

type Targeted = Pick<Flag, "enabled" | "rollout_percentage">;

/** In a list's row: "2 rules, then 25%". At 0 there is no rollout and the flag is on for everyone. */
export function audienceInShort(flag: Targeted, rulesInForce: number): string {
  const percentage = flag.rollout_percentage;
  if (rulesInForce > 0) return t.flags.rulesThen(rulesInForce, percentage);
  return percentage === 0 ? t.flags.everyone : t.flags.share(percentage);
}

/** As a sentence, below the large switch. */
export function audienceInFull(flag: Targeted, rulesInForce: number): string {
  if (!flag.enabled) return t.flag.offText;
  if (flag.rollout_percentage === 0) return rulesInForce ? t.flag.onRulesAndEveryone : t.flag.onEveryone;
  const say = rulesInForce ? t.flag.onRulesAndRollout : t.flag.onRollout;
  return say(flag.rollout_percentage);
}

export function isAudience(flag: Targeted, rulesInForce: number, wanted: Audience): boolean {
  switch (wanted) {
    case "any":
      return true;
    case "everyone":
      return flag.rollout_percentage === 0 && rulesInForce === 0;
    case "rollout":
      return flag.rollout_percentage > 0;
    case "rules":
      return rulesInForce > 0;
  }
}

export function ruleInWords(rule: Pick<Rule, "rule_type" | "rule_value">): string {
  return [t.rules.sentence[rule.rule_type], rule.rule_value].filter(Boolean).join(" ");
}
