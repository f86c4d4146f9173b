/** The periods of a history, and the number of bars in their charts. */

import { endIn, startIn } from "./zoneTimes";

export const PERIODS = ["day", "hour", "week", "month", "all"] as const;
export type Period = (typeof PERIODS)[number];
export type Bounded = Exclude<Period, "all">;

const HOUR = 3_600;
const DAY = 24 * HOUR;

export const SECONDS: Record<Bounded, number> = { hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY };
export const STEP_SECONDS: Record<Bounded, number> = { hour: 120, day: HOUR, week: 6 * HOUR, month: DAY };

/** The intervals that a summary can have, the usual one first. */
const INTERVALS: Record<Bounded, readonly string[]> = {
  hour: ["2m", "10m", "1h"],
  day: ["1h", "2h", "6h", "1d"],
  week: ["6h", "1d"],
  month: ["1d"],
};
const MOST_CELLS = 100_000; // flags times intervals in one answer

const UNIT_SECONDS: Record<string, number> = { m: 60, h: 3_600, d: 86_400 };

export function secondsOf(interval: string): number {
  return Number.parseInt(interval, 10) * (UNIT_SECONDS[interval.slice(-1)] ?? 0);
}

/** The shortest interval in which so many flags can be summarised, and those that are longer. */
export function intervalsFor(period: Bounded, flags: number): readonly string[] {
  const all = INTERVALS[period];
  const fits = (interval: string) => flags * (SECONDS[period] / secondsOf(interval) + 1) <= MOST_CELLS;
  const first = all.findIndex(fits);
  return first < 0 ? all.slice(-1) : all.slice(first);
}

/** The bars of a period until now, in milliseconds. The last one is still growing, so that the number of bars is right. */
export function timesUntil(now: number, length: number, step: number, zone: string) {
  const until = endIn(zone, startIn(zone, now, step), step);
  // As many days as usual are an hour shorter or longer if clocks are changed in them.
  const slack = step > HOUR * 1000 ? HOUR * 1000 : 0;
  return { since: startIn(zone, until - length + slack, step), until };
}

/** When a period began. */
export function sinceOf(period: Bounded, now: number, zone: string): string {
  const { since } = timesUntil(now, SECONDS[period] * 1000, STEP_SECONDS[period] * 1000, zone);
  return new Date(since).toISOString();
}

const DAYS = 7;

/** The start of the first of the last days, of which today is the last. Days are those of UTC, as the server counts them. */
export function firstDay(now: number): string {
  return new Date((Math.floor(now / 1000 / DAY) - DAYS + 1) * DAY * 1000).toISOString();
}
