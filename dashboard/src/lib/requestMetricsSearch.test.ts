import { expect, it } from "vitest";
import type { RequestMetric } from "../api/requestMetrics";
import { chosenChart } from "./requestMetricsSearch";

const errors = { name: "errors", measures: ["rate", "total"], labels: { app: ["shop"] } } as unknown as RequestMetric;
const seconds = { name: "42", measures: ["mean"], labels: {} } as unknown as RequestMetric;
const chosen = (search: object) => chosenChart(search, [errors, seconds], errors);

it("shows the first metric of the last hour if nothing, or what is not there, is chosen", () => {
  const usual = { metric: errors, measure: "rate", by: null, hours: 1 };
  expect(chosen({})).toEqual(usual);
  expect(chosen({ metric: "gone", measure: "mean", by: "toString", hours: 2 })).toEqual(usual);
});

it("shows what the URL says, also where the router has read a number", () => {
  expect(chosen({ measure: "total", by: "app", hours: 24 })).toEqual({
    metric: errors,
    measure: "total",
    by: "app",
    hours: 24,
  });
  expect(chosen({ metric: 42, hours: "168" })).toEqual({ metric: seconds, measure: "mean", by: null, hours: 168 });
});
