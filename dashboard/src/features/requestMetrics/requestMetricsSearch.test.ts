import { expect, it } from "vitest";
import type { RequestMetric } from "./requestMetricsCalls";
import { chosenChart, toRequestMetricsSearch } from "./requestMetricsSearch";

const errors = { name: "errors", measures: ["rate", "total"], labels: { app: ["shop"] } } as unknown as RequestMetric;
const seconds = { name: "42", measures: ["mean"], labels: {} } as unknown as RequestMetric;
const chosen = (search: object) => chosenChart(toRequestMetricsSearch({ ...search }), [errors, seconds], errors);

it("shows the first metric of the last hour if nothing, or what is not there, is chosen", () => {
  const usual = { metric: errors, measure: "rate", by: null, hours: 1, span: null };
  expect(chosen({})).toEqual(usual);
  expect(chosen({ metric: "gone", measure: "mean", by: "toString", hours: 2 })).toEqual(usual);
});

it("shows what the URL says, also where the router has read a number", () => {
  expect(chosen({ measure: "total", by: "app", hours: 24 })).toEqual({
    metric: errors,
    measure: "total",
    by: "app",
    hours: 24,
    span: null,
  });
  expect(chosen({ metric: 42, hours: "168" })).toEqual({
    metric: seconds,
    measure: "mean",
    by: null,
    hours: 168,
    span: null,
  });
});

it("shows the time that the chart was zoomed to, and the last hours if it is none", () => {
  const [since, until] = ["2026-11-23T10:00Z", "2026-11-23T11:00Z"];
  expect(chosen({ since, until }).span).toEqual({ since: Date.parse(since), until: Date.parse(until) });
  expect(chosen({ since: until, until: since }).span).toBeNull();
  expect(chosen({ since, until: "soon" }).span).toBeNull();
});
