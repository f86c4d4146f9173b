/** The periods of which changes can be shown. */

export const PERIODS = ["all", "hour", "day", "week", "between"] as const;
export type Period = (typeof PERIODS)[number];

export interface ChangeTimes {
  readonly last?: "hour" | "day" | "week";
  /** Local times, as fields for times have them: "2026-11-23T04:05". */
  readonly since?: string;
  readonly until?: string;
}

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
const MINUTE = 60_000;

export function periodOf({ last, since, until }: ChangeTimes): Period {
  return last ?? (since === undefined && until === undefined ? "all" : "between");
}

/** The time of the oldest changes; a whole minute, so that the list is not loaded again at every moment. */
export function startOf({ last, since }: ChangeTimes, now: number): string | undefined {
  if (since !== undefined) return new Date(since).toISOString();
  if (last === undefined) return undefined;
  return new Date(Math.floor((now - MILLISECONDS[last]) / MINUTE) * MINUTE).toISOString();
}
