/** The periods of a history, and the number of bars in their charts. */

export const PERIODS = ["day", "hour", "week", "all"] as const;
export type Period = (typeof PERIODS)[number];
type Bounded = Exclude<Period, "all">;

const HOUR = 3_600;

const SECONDS: Record<Bounded, number> = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR };
const STEPS: Record<Bounded, { interval: string; seconds: number }> = {
  hour: { interval: "2m", seconds: 120 },
  day: { interval: "1h", seconds: HOUR },
  week: { interval: "6h", seconds: 6 * HOUR },
};

export function summaryStep(period: Bounded) {
  return STEPS[period];
}

/** When a period began. Its last bar is the one that is still growing, so that the number of bars is right. */
export function sinceOf(period: Bounded, now: number): string {
  const { seconds } = STEPS[period];
  const start = Math.floor(now / 1000 / seconds) * seconds - SECONDS[period] + seconds;
  return new Date(start * 1000).toISOString();
}
