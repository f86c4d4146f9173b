import { expect, test } from "vitest";
import type { RequestChart } from "./requestMetricsCalls";
import { drawn } from "./requestCharts";

const CHART: RequestChart = {
  kind: "counter",
  measure: "per_minute",
  since: "2026-11-20T10:00:00Z",
  until: "2026-11-20T10:03:00Z",
  minutes: 1,
  lines: [{ value: null, points: [2, null, 4] }],
  omitted: 0,
};

test("nothing that was reported is no chart", () => {
  expect(drawn({ ...CHART, lines: [] }, "Orders")).toBeNull();
  expect(drawn({ ...CHART, lines: [{ value: null, points: [null, null] }] }, "Orders")).toBeNull();
});

test("a minute without a report has no place in the line", () => {
  const found = drawn(CHART, "Orders");
  expect(found?.lines[0]).toMatchObject({ name: "Orders", places: [0.5, null, 1], words: ["2", "not reported", "4"] });
  expect(found?.times.map((each) => each - Date.parse(CHART.since))).toEqual([0, 60_000, 120_000]);
});

test("a chart has room for the limit above its line", () => {
  const found = drawn(CHART, "Orders", 10);
  expect([found?.most, found?.place(9), found?.lines[0]?.places[2]]).toEqual([12, 0.75, 4 / 12]);
});

test("a line of zeros lies at the bottom, and negative values below it", () => {
  expect(drawn({ ...CHART, lines: [{ value: null, points: [0] }] }, "Orders")?.lines[0]?.places).toEqual([0]);
  expect(drawn({ ...CHART, lines: [{ value: null, points: [-1, 1] }] }, "Queue")?.lines[0]?.places).toEqual([0, 1]);
});
