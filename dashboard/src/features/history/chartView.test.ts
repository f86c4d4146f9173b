import { expect, it } from "vitest";
import type { Environment } from "../../api/client";
import type { PinnedChart } from "../views/pinnedChartsCalls";
import { chartViewOf, comparisonOf, comparisonSearch, searchOfPinned } from "./chartView";
import { toHistorySearch } from "../../ui/search";

const environments = ["production", "staging", "before"].map((key) => ({ id: `id-${key}`, key })) as Environment[];
const place = { here: "id-production", environments, flagKey: "checkout", zone: "Europe/Berlin" };

it("shows the results of the last day if nothing is chosen", () => {
  expect(chartViewOf({}, place)).toEqual({
    period: "day",
    span: null,
    zone: "Europe/Berlin",
    split: "result",
    scale: "count",
    before: false,
    other: null,
  });
});

it("ignores what cannot be chosen", () => {
  const view = chartViewOf({ split: "user", scale: "log", compare: "after", with: "production" }, place);
  expect(view).toEqual(chartViewOf({}, place));
  expect(chartViewOf({ with: "gone" }, place).other).toBeNull();
  expect(chartViewOf({ split: "variant" }, { ...place, flagKey: "" }).split).toBe("result");
});

it("compares with one thing only, and tells the period before from an environment named like it", () => {
  const both = chartViewOf({ compare: "before", with: "staging" }, place);
  expect([both.before, both.other]).toEqual([true, null]);
  const named = chartViewOf({ with: "before" }, place);
  expect([named.before, named.other?.key]).toEqual([false, "before"]);
});

it("finds each comparison again after it was chosen", () => {
  for (const view of [
    chartViewOf({}, place),
    chartViewOf({ compare: "before" }, place),
    chartViewOf({ with: "staging" }, place),
  ]) {
    const search = toHistorySearch({ ...comparisonSearch(comparisonOf(view)) });
    expect(chartViewOf(search, place)).toEqual(view);
  }
});

it("gives a pinned chart the URL of the view that was pinned", () => {
  const pinned = {
    period: "week",
    split: "variant",
    scale: "percent",
    compare_before: false,
    compare_environment_id: "id-staging",
  } as PinnedChart;
  const search = searchOfPinned(pinned, environments);
  expect(search).toEqual({ period: "week", split: "variant", scale: "percent", with: "staging" });
  const plain = { ...pinned, period: "day", split: "result", scale: "count", compare_environment_id: null } as const;
  expect(searchOfPinned(plain, environments)).toEqual({});
  expect(searchOfPinned({ ...plain, compare_before: true }, environments)).toEqual({ compare: "before" });
});
