/** How often a flag was evaluated. */

import type { Summary } from "../history/historyCalls";

/**
 * The evaluations in the time of a summary, and how many of them were on. A flag without evaluations is not in the
 * summary.
 */
export function countsOf(summary: Summary, key: string): { readonly all: number; readonly on: number } {
  const intervals = Object.hasOwn(summary.flags, key) ? (summary.flags[key] ?? []) : [];
  const on = intervals.reduce((sum, each) => sum + each.on, 0);
  return { on, all: intervals.reduce((sum, each) => sum + each.off, on) };
}
