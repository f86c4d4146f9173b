/** Charts of request metrics: their lines, their moments, and a scale that also holds a limit. */

import type { RequestChart } from "./requestMetricsCalls";
import type { Line } from "../../ui/charts/releaseCharts";
import { requestMetrics as texts } from "./requestMetricsTexts";
import { partColour } from "../../ui/charts/partColours";
import { digits } from "../../ui/digits";

const MINUTE = 60_000;
/** The part by which the scale extends beyond a limit, so that a line can be seen to pass it. */
const BEYOND = 1.2;

export interface Drawn {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** The numbers at the top and the bottom of the chart. */
  readonly most: number;
  readonly place: (value: number) => number;
}

/** The chart in the form of lines; null if nothing was reported. `limit` is a number that it also has room for. */
export function drawn(chart: RequestChart, label: string, limit: number | null = null): Drawn | null {
  const reported = chart.lines.flatMap(({ points }) => points.filter((each) => each !== null));
  if (reported.length === 0) return null;
  const known = limit === null ? reported : [...reported, limit * BEYOND];
  const [least, most] = [Math.min(0, ...known), Math.max(...known)];
  const place = (value: number) => (most === least ? 0 : (value - least) / (most - least));
  const since = Date.parse(chart.since);
  const count = chart.lines[0]?.points.length ?? 0;
  return {
    times: Array.from({ length: count }, (_, index) => since + index * chart.minutes * MINUTE),
    lines: chart.lines.map(({ value, points }, index) => ({
      name: value ?? label,
      colour: chart.lines.length === 1 ? "var(--mantine-color-text)" : partColour(index),
      places: points.map((each) => (each === null ? null : place(each))),
      words: points.map((each) => (each === null ? texts.unknown : digits(each))),
    })),
    most,
    place,
  };
}
