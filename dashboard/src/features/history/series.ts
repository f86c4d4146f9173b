/** Converts a summary, which leaves out empty intervals, to a chart's bars, which include them. */

import type { FlagInterval, Summary } from "./historyCalls";
import { secondsOf } from "../../ui/charts/periods";
import { startsIn } from "../../ui/charts/zoneTimes";

export interface Bar {
  readonly start: number;
  readonly on: number;
  readonly off: number;
}

export function barsOf(summary: Summary, intervals: readonly FlagInterval[]): Bar[] {
  const byStart = new Map(intervals.map((each) => [Date.parse(each.start), each]));
  return startsOf(summary).map((start) => {
    const { on = 0, off = 0 } = byStart.get(start) ?? {};
    return { start, on, off };
  });
}

/** The starts of all intervals of a summary. */
export function startsOf({ tz, since, until, interval }: Summary): number[] {
  return startsIn(tz, Date.parse(since), Date.parse(until), secondsOf(interval) * 1000);
}

/** The intervals of all flags together, of which no reasons are known. */
export function inTotal({ total }: Summary): FlagInterval[] {
  return (total ?? []).map((each) => ({ ...each, reasons: {}, off_reasons: [] }));
}

export interface ReasonCount {
  readonly reason: string;
  readonly count: number;
  readonly isOff: boolean;
}

/** The number of times that each reason was given, most frequent first. */
export function reasonsOf(intervals: readonly FlagInterval[]): ReasonCount[] {
  const counts = new Map<string, number>();
  const off = new Set<string>();
  for (const { reasons, off_reasons } of intervals) {
    for (const reason of off_reasons) off.add(reason);
    for (const [reason, count] of Object.entries(reasons)) counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return [...counts]
    .map(([reason, count]) => ({ reason, count, isOff: off.has(reason) }))
    .toSorted((a, b) => b.count - a.count);
}
