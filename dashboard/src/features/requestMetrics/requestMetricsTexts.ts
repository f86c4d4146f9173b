import type { Measure, RequestMetric } from "./requestMetricsCalls";

export const requestMetrics = {
  heading: "Request metrics",
  intro:
    "What applications measure themselves, such as response times, and report in sums. Unleash's SDKs call them impact metrics. They have no users, so releases limit them by thresholds.",
  none: "No application has reported a request metric in the last seven days.",
  name: "Request metric",
  kind: "Kind",
  kinds: { counter: "Counter", gauge: "Gauge", histogram: "Histogram" } satisfies Record<RequestMetric["kind"], string>,
  labels: "Labels",
  seen: "Last report",
  measure: "Measure",
  measures: {
    per_minute: "Per minute",
    mean: "Mean",
    p50: "Median",
    p90: "90th percentile",
    p95: "95th percentile",
    p99: "99th percentile",
  } satisfies Record<Measure, string>,
  by: "Group by",
  all: "Nothing",
  span: "Time",
  spans: { 1: "Last hour", 24: "Last day", 168: "Last week" },
  noPoints: "Nothing was reported in this period.",
  omitted: (values: number) =>
    `${values.toLocaleString("en")} more ${values === 1 ? "value is" : "values are"} not shown.`,
  unknown: "not reported",
  thresholdOf: (limit: string) => `Threshold ${limit}`,
};
