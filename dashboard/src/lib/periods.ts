/** The periods one can look back over, and into how many bars a chart divides them. */

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

/** When a period began. The bar that is growing now counts as its last, so that as many are shown as a period has. */
export function sinceOf(period: Bounded, now: number): string {
  const { seconds } = STEPS[period];
  const start = Math.floor(now / 1000 / seconds) * seconds - SECONDS[period] + seconds;
  return new Date(start * 1000).toISOString();
}
