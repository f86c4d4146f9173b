/** The time of which an environment's changes are shown, in the URL. */

export const PERIODS = ["all", "hour", "day", "week", "since"] as const;
export type Period = (typeof PERIODS)[number];

export interface ChangesSearch {
  readonly last?: "hour" | "day" | "week";
  /** A local time, as a field for times has it: "2026-11-23T04:05". */
  readonly since?: string;
}

const MILLISECONDS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
const MINUTE = 60_000;

export function toChangesSearch({ last, since }: Record<string, unknown>): ChangesSearch {
  if (typeof last === "string" && Object.hasOwn(MILLISECONDS, last)) return { last: last as keyof typeof MILLISECONDS };
  if (typeof since === "string" && /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d/.test(since) && !Number.isNaN(Date.parse(since))) {
    return { since };
  }
  return {};
}

/** The time of the oldest changes; a whole minute, so that the list is not loaded again at every moment. */
export function startOf({ last, since }: ChangesSearch, now: number): string | undefined {
  if (since !== undefined) return new Date(since).toISOString();
  if (last === undefined) return undefined;
  return new Date(Math.floor((now - MILLISECONDS[last]) / MINUTE) * MINUTE).toISOString();
}
