/** Where a chart marks changes. */

import type { ChangeSummary } from "../../api/changes";

type Interval = ChangeSummary["intervals"][number];

export interface Marker {
  /** Milliseconds since 1970: from the first interval's start to the last one's end. */
  readonly start: number;
  readonly end: number;
  readonly changes: number;
  readonly segmentChanges: number;
  readonly newest: Interval["newest"];
  /** The middle, as a share of the chart's width. */
  readonly middle: number;
}

/** One marker for each part of the chart that has changes. The chart has at most `most` parts, of equal length. */
export function markersOf(
  bars: readonly { readonly start: number; readonly end: number }[],
  intervals: readonly Interval[],
  most: number,
): Marker[] {
  const size = Math.ceil(bars.length / Math.max(1, most));
  const parts = new Map<number, Interval[]>();
  for (const interval of intervals) {
    const at = Date.parse(interval.start);
    const bar = bars.findIndex(({ start, end }) => start <= at && at < end);
    if (bar < 0) continue;
    const part = Math.floor(bar / size);
    parts.set(part, [...(parts.get(part) ?? []), interval]);
  }
  return [...parts].flatMap(([part, found]) => {
    const newest = found.at(-1)?.newest;
    if (!newest) return [];
    const [from, to] = [part * size, Math.min((part + 1) * size, bars.length)];
    return {
      start: bars[from]?.start ?? 0,
      end: bars[to - 1]?.end ?? 0,
      changes: found.reduce((sum, each) => sum + each.changes, 0),
      segmentChanges: found.reduce((sum, each) => sum + each.segment_changes, 0),
      newest,
      middle: (from + to) / 2 / bars.length,
    };
  });
}

/** The local minute of a moment, as the fields of the audit have times; `up` rounds up to a later one. */
export function localMinute(moment: number, { up = false } = {}): string {
  const minute = 60_000;
  const at = up ? (Math.floor(moment / minute) + 1) * minute : moment;
  return new Date(at - new Date(at).getTimezoneOffset() * minute).toISOString().slice(0, 16);
}
