/** The times that charts of the history show, and how they are zoomed and moved. Times are milliseconds since 1970. */

import { type Bounded, SECONDS, STEP_SECONDS, timesUntil } from "./periods";
import { endIn, startIn } from "./zoneTimes";
import type { HistorySearch } from "../search";

/** From a moment up to another. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** The time of a chart: a period until now, or a span; and the time zone of its days and hours. */
export interface ChartTime {
  readonly period: Bounded;
  readonly span: Span | null;
  readonly zone: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AROUND = 3 * HOUR;
const SHORTEST = 10 * MINUTE;
const LONGEST = 366 * DAY;

export const MOST_BARS = 48;
const LONGEST_STEP = ["128d", 128 * DAY] as const;
/** The lengths of bars, as the API has them. */
const STEPS: readonly (readonly [string, number])[] = [
  ...[1, 2, 5, 10, 15, 30].map((each) => [`${each}m`, each * MINUTE] as const),
  ...[1, 2, 3, 6, 12].map((each) => [`${each}h`, each * HOUR] as const),
  ...[1, 2, 4, 8, 16, 32].map((each) => [`${each}d`, each * DAY] as const),
  LONGEST_STEP,
];

/** The span in the URL: around a moment, or from one up to another; null for a period until now. */
export function spanOf({ at, since, until }: Pick<HistorySearch, "at" | "since" | "until">): Span | null {
  const moment = Date.parse(at ?? "");
  if (!Number.isNaN(moment)) return { since: moment - AROUND, until: moment + AROUND };
  const [from, to] = [Date.parse(since ?? ""), Date.parse(until ?? "")];
  if (Number.isNaN(from) || Number.isNaN(to) || from >= to) return null;
  return { since: Math.max(from, to - LONGEST), until: to };
}

/** A span as the URL has it. */
export function spanSearch({ since, until }: Span): Pick<HistorySearch, "since" | "until"> {
  return { since: textOf(since), until: textOf(until) };
}

function textOf(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 16)}Z`;
}

/** The time to ask the API for: whole bars, at most about as many as given, and as many before them if wanted. */
export function barTimes({ period, span, zone }: ChartTime, now: number, withBefore: boolean, mostBars = MOST_BARS) {
  const usual = STEP_SECONDS[period] * SECOND;
  const length = span === null ? SECONDS[period] * SECOND : span.until - span.since;
  const isUsual = span === null && length <= mostBars * usual;
  const [interval, step] = isUsual ? [`${usual / MINUTE}m`, usual] : stepFor(length, mostBars);
  const { since, until } = span === null ? timesUntil(now, length, step, zone) : wholeBars(span, step, zone);
  return { since: withBefore ? since - (until - since) : since, until, interval };
}

function wholeBars({ since, until }: Span, step: number, zone: string): Span {
  return { since: startIn(zone, since, step), until: endIn(zone, startIn(zone, until - 1, step), step) };
}

function stepFor(length: number, mostBars: number): readonly [string, number] {
  return STEPS.find((each) => length <= mostBars * each[1]) ?? LONGEST_STEP;
}

export function zoomedIn({ since, until }: Span, now: number): Span {
  const part = (until - since) / 4;
  return fitted({ since: since + part, until: until - part }, now);
}

export function zoomedOut({ since, until }: Span, now: number): Span {
  const part = (until - since) / 2;
  return fitted({ since: since - part, until: until + part }, now);
}

/** Half of the span earlier, or later with a negative number of halves. */
export function moved({ since, until }: Span, halves: number, now: number): Span {
  const distance = (halves * (until - since)) / 2;
  return fitted({ since: since - distance, until: until - distance }, now);
}

/** The nearest span that is neither too short nor too long, and does not extend into the future. */
export function fitted({ since, until }: Span, now: number): Span {
  const length = Math.min(Math.max(until - since, SHORTEST), LONGEST);
  const end = Math.min((since + until + length) / 2, now);
  return { since: Math.floor((end - length) / MINUTE) * MINUTE, until: Math.ceil(end / MINUTE) * MINUTE };
}

export function isShortest({ since, until }: Span): boolean {
  return until - since <= SHORTEST;
}

export function isLongest({ since, until }: Span): boolean {
  return until - since >= LONGEST;
}

/** The place of the bar that has a time: the last one that starts by then, or the first one. */
export function placeOf(time: number, starts: readonly number[]): number {
  return Math.max(
    0,
    starts.findLastIndex((start) => start <= time),
  );
}
