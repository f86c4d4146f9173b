/** Converts the URL to the filters of the history. */

import type { Flag, Rule } from "../../api/client";
import type { EvaluationFilter } from "./historyCalls";
import { spanOf } from "../../ui/charts/chartTimes";
import type { HistorySearch } from "../../ui/search";

/** `zone` is that of the chart, whose bars the period covers. */
export function filterOf(search: HistorySearch, flagKey: string, zone: string): EvaluationFilter {
  return {
    userId: search.user?.trim() ?? "",
    userEmail: search.email?.trim() ?? "",
    flagKey,
    flagId: flagKey === "" ? "" : (search.id ?? ""),
    variant: search.variant ?? "",
    ruleId: search.rule ?? "",
    enabled: search.answer === undefined || search.answer === "any" ? null : search.answer === "on",
    period: search.period ?? "day",
    span: spanOf(search),
    zone,
  };
}

/**
 * Whether evaluations of a flag are recorded with the rule that matched. A flag with only look-ups of users does not
 * need that.
 */
export function recordsRules(flag: Flag, rules: readonly Rule[]): boolean {
  return (
    flag.variants.length > 0 || flag.prerequisites.length > 0 || rules.some((rule) => rule.enabled && saysMore(rule))
  );
}

function saysMore({ rule_type: type, conditions, rollout_percentage: percentage }: Rule): boolean {
  return type === "segment" || type === "attributes" || conditions.length > 0 || percentage < 100;
}
