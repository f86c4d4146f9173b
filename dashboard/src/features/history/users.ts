/** The numbers of users who had a flag on and off, by day. Days are those of UTC, as the server counts them. */

import type { DistinctUsers, Summary } from "./historyCalls";
import type { Rule } from "../../api/client";
import { ruleInWords } from "../../ui/conditions/audience";
import { historyTexts, usersTexts } from "./historyTexts";

const DAY_MILLISECONDS = 86_400_000;

export interface UsersDay {
  readonly start: number;
  /** Null if the number is not known yet. */
  readonly users: DistinctUsers | null;
}

/** Every day of a summary, newest first, including those without evaluations. */
export function daysOf(summary: Summary, flagKey: string): UsersDay[] {
  const byStart = new Map(summary.flags[flagKey]?.map((each) => [Date.parse(each.start), each]));
  const days: UsersDay[] = [];
  for (let start = Date.parse(summary.since); start < Date.parse(summary.until); start += DAY_MILLISECONDS) {
    const interval = byStart.get(start);
    days.unshift({ start, users: interval ? (interval.distinct_users ?? null) : { on: 0, off: 0, error: 0 } });
  }
  return days;
}

/** The users of a variant, or of a rule. */
export interface NamedUsers {
  readonly name: string;
  readonly users: number;
}

export function usersByVariant({ variants }: DistinctUsers): NamedUsers[] {
  return mostFirst(Object.entries(variants ?? {}));
}

/** By rule, and by reason where it was not recorded which rule matched. The history also has rules that were deleted. */
export function usersByRule({ rules, reasons }: DistinctUsers, known: readonly Rule[]): NamedUsers[] {
  const nameOf = (id: string) => {
    const rule = known.find((each) => each.id === id);
    return rule ? ruleInWords(rule) : historyTexts.ruleGone(id);
  };
  const byId = Object.entries(rules ?? {}).map(([id, users]) => [nameOf(id), users] as const);
  return mostFirst([...byId, ...Object.entries(reasons ?? {})]);
}

function mostFirst(counts: readonly (readonly [string, number])[]): NamedUsers[] {
  return counts.map(([name, users]) => ({ name, users })).toSorted((a, b) => b.users - a.users);
}

/** "≈5,120" for an estimate, and "12" for a number that is exact. */
export function usersInWords(count: number, error: number): string {
  return (error > 0 && count > 0 ? "≈" : "") + count.toLocaleString("en");
}

/** The accuracy of the numbers: the largest standard error among them. */
export function accuracyInWords(all: readonly (DistinctUsers | null)[]): string {
  const error = Math.max(0, ...all.map((each) => each?.error ?? 0));
  return error > 0
    ? usersTexts.estimated((error * 100).toLocaleString("en", { maximumFractionDigits: 1 }))
    : usersTexts.exact;
}
