/** The periods of a history, and the number of bars in their charts. */

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

/** When a period began. Its last bar is the one that is still growing, so that the number of bars is right. */
export function sinceOf(period: Bounded, now: number): string {
  const seconds = STEP_SECONDS[period];
  const start = Math.floor(now / 1000 / seconds) * seconds - SECONDS[period] + seconds;
  return new Date(start * 1000).toISOString();
}

const DAYS = 7;

/** The start of the first of the last days, of which today is the last. Days are those of UTC, as the server counts them. */
export function firstDay(now: number): string {
  return new Date((Math.floor(now / 1000 / DAY) - DAYS + 1) * DAY * 1000).toISOString();
}
