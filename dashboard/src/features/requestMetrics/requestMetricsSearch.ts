/** Which request metric is charted, in the URL, where the router reads 42 as a number. Unknown choices are ignored. */

import type { Measure, RequestMetric } from "./requestMetricsCalls";
import { type Span, spanOf } from "../../ui/charts/chartTimes";

export const HOURS = [1, 24, 168] as const;
export type Hours = (typeof HOURS)[number];

export interface RequestMetricsSearch {
  readonly metric?: string;
  readonly measure?: string;
  readonly by?: string | undefined;
  readonly hours?: string | number;
  /** The time that the chart was zoomed to, instead of the last hours. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface ChosenChart {
  readonly metric: RequestMetric;
  readonly measure: Measure | undefined;
  /** The label whose values are separate lines. */
  readonly by: string | null;
  readonly hours: Hours;
  readonly span: Span | null;
}

const NAMES = ["metric", "measure", "by", "hours", "since", "until"] as const;

export function toRequestMetricsSearch(raw: Readonly<Record<string, unknown>>): RequestMetricsSearch {
  const found: Partial<Record<(typeof NAMES)[number], string>> = {};
  for (const name of NAMES) {
    const value = raw[name];
    if (typeof value === "string" || typeof value === "number") found[name] = String(value);
  }
  return found;
}

/** The metric of the chart and its options; `first` is the metric that is shown until another is chosen. */
export function chosenChart(
  { metric: name, measure, by, hours, ...times }: RequestMetricsSearch,
  metrics: readonly RequestMetric[],
  first: RequestMetric,
): ChosenChart {
  const metric = metrics.find((each) => each.name === name) ?? first;
  return {
    metric,
    measure: metric.measures.find((each) => each === measure) ?? metric.measures[0],
    by: Object.keys(metric.labels).find((each) => each === by) ?? null,
    hours: HOURS.find((each) => each === Number(hours)) ?? 1,
    span: spanOf({ since: times.since ?? "", until: times.until ?? "" }),
  };
}
