/** Converts the URL to the filters of the history. */

import type { EvaluationFilter } from "../api/history";
import type { HistorySearch } from "./search";

export function filterOf(search: HistorySearch, flagKey: string): EvaluationFilter {
  return {
    userId: search.user?.trim() ?? "",
    userEmail: search.email?.trim() ?? "",
    flagKey,
    enabled: search.answer === undefined || search.answer === "any" ? null : search.answer === "on",
    period: search.period ?? "day",
  };
}
