/** The scales and parts of the charts of a release. Values are places in a chart, from 0 at its bottom or left to 1. */

import type { Span } from "./chartTimes";

/** Evidence below it is drawn at the bottom: there the flag is more likely harmless than harmful. */
const LEAST_EVIDENCE = 0.1;
/** The factor by which the scale extends beyond the threshold. */
const BEYOND = 3;
/** Evidence above this power of the threshold is drawn at the top, so that the threshold can still be told from 1. */
const MOST_POWER = 2;

/** A logarithmic scale for evidence, on which the threshold and its warning line have their places. */
export function evidenceScale(values: readonly number[], threshold: number): (value: number) => number {
  const bottom = Math.log(LEAST_EVIDENCE);
  const top = Math.log(Math.max(threshold * BEYOND, Math.min(threshold ** MOST_POWER, Math.max(...values))));
  return (value) => within((Math.log(Math.max(value, LEAST_EVIDENCE)) - bottom) / (top - bottom));
}

/** The evidence above which no further step begins: half of the threshold on the logarithmic scale. */
export function warningLine(threshold: number): number {
  return Math.sqrt(threshold);
}

/** A linear scale from zero. */
export function countScale(values: readonly number[]): (value: number) => number {
  const most = Math.max(1, ...values);
  return (value) => within(value / most);
}

/** The places of moments, from the first to the last one. */
export function timePlaces(times: readonly number[]): number[] {
  const first = times[0] ?? 0;
  const span = (times.at(-1) ?? first) - first;
  return times.map((time) => (span === 0 ? 1 : (time - first) / span));
}

/** The place of the moment that is nearest to a place in the chart; null without any. */
export function nearest(places: readonly number[], wanted: number): number | null {
  let found: number | null = null;
  for (const [index, place] of places.entries()) {
    if (found === null || Math.abs(place - wanted) < Math.abs((places[found] ?? 0) - wanted)) found = index;
  }
  return found;
}

/** At most so many of the items, evenly spread, with the first and the last one. */
export function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as T);
}

function within(place: number): number {
  return Math.min(1, Math.max(0, place));
}

export interface Line {
  readonly name: string;
  readonly colour: string;
  /** For each moment; `places` are from 0 at the bottom to 1, and null where nothing is known. */
  readonly places: readonly (number | null)[];
  readonly words: readonly string[];
}

/** The part of a chart in a time. */
export function partOf<Chart extends { readonly times: readonly number[]; readonly lines: readonly Line[] }>(
  chart: Chart,
  { since, until }: Span,
): Chart {
  const inside = (_: unknown, index: number): boolean => {
    const time = chart.times[index] ?? 0;
    return time >= since && time <= until;
  };
  const lines = chart.lines.map((line) => ({
    ...line,
    places: line.places.filter(inside),
    words: line.words.filter(inside),
  }));
  return { ...chart, times: chart.times.filter(inside), lines };
}
