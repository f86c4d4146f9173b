/** The times that charts of the history show, and how they are zoomed and moved. Times are milliseconds since 1970. */

import { type Bounded, SECONDS, STEP_SECONDS } from "./periods";
import type { HistorySearch } from "./search";

/** From a moment up to another. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** The time of a chart: a period until now, or a span. */
export interface ChartTime {
  readonly period: Bounded;
  readonly span: Span | null;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AROUND = 3 * HOUR;
const SHORTEST = 10 * MINUTE;
const LONGEST = 366 * DAY;

export const MOST_BARS = 48;
/** The lengths of bars, as the API has them. The longest is for `LONGEST`. */
const STEPS: readonly (readonly [string, number])[] = [
  ...[1, 2, 5, 10, 15, 30].map((each) => [`${each}m`, each * MINUTE] as const),
  ...[1, 2, 3, 6, 12].map((each) => [`${each}h`, each * HOUR] as const),
  ...[1, 2, 4, 8].map((each) => [`${each}d`, each * DAY] as const),
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

/** What to ask the API for: a whole number of bars, and as many before them if the period before is wanted. */
export function barTimes({ period, span }: ChartTime, now: number, withBefore: boolean) {
  const { since, until, interval } = span === null ? latest(period, now) : within(span);
  return { since: withBefore ? since - (until - since) : since, until, interval };
}

/** The period until now. Its last bar is the one that is still growing, so that the number of bars is right. */
function latest(period: Bounded, now: number): Span & { interval: string } {
  const step = STEP_SECONDS[period] * SECOND;
  const until = Math.floor(now / step) * step + step;
  return { since: until - SECONDS[period] * SECOND, until, interval: `${step / MINUTE}m` };
}

function within({ since, until }: Span): Span & { interval: string } {
  const [interval, step] = STEPS.find((each) => until - since <= MOST_BARS * each[1]) ?? ["8d", 8 * DAY];
  return { since: Math.floor(since / step) * step, until: Math.ceil(until / step) * step, interval };
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

/** The nearest span that is neither too short nor too long, and has no future. */
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
