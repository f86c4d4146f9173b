import { describe, expect, it } from "vitest";
import type { Summary } from "./historyCalls";
import { chartOf, inWords, isEmpty, mostOf, timeOf, totalOf } from "./chartBars";

const hour = (at: number) => `2026-11-20T${String(at).padStart(2, "0")}:00:00.000000Z`;
const interval = (at: number, on: number, off: number, more: object = {}) => ({
  start: hour(at),
  on,
  off,
  reasons: {},
  off_reasons: [],
  ...more,
});
const summary = (intervals: ReturnType<typeof interval>[]): Summary => ({
  since: hour(8),
  until: hour(12),
  interval: "1h",
  predecessors: [],
  tz: "UTC",
  flags: { a: intervals },
});
const charted = (intervals: ReturnType<typeof interval>[]) => ({
  summary: summary(intervals),
  flagKey: "a",
  withBefore: false,
});
const results = { split: "result", name: "This period" } as const;

describe("results", () => {
  const chart = chartOf(charted([interval(8, 1, 2), interval(11, 3, 0)]), results);

  it("have a bar for each interval, also without an evaluation", () => {
    expect(chart.series[0]?.bars.map(({ counts }) => counts)).toEqual([
      [1, 2],
      [0, 0],
      [0, 0],
      [3, 0],
    ]);
    expect(timeOf(chart)).toEqual({ since: Date.parse(hour(8)), until: Date.parse(hour(12)) });
    expect(mostOf(chart)).toBe(3);
  });

  it("are said in words, in percent with their shares", () => {
    const [series] = chart.series;
    const whole = series && totalOf(series, chart.parts);
    expect(whole && inWords(whole, chart.parts, "count")).toBe("4 on, 2 off");
    expect(whole && inWords(whole, chart.parts, "percent")).toBe("4 on (66.7%), 2 off (33.3%)");
  });

  it("are of all flags together without a key", () => {
    const total = chartOf(
      { ...charted([]), summary: { ...summary([]), total: [{ start: hour(9), on: 5, off: 6 }] }, flagKey: "" },
      results,
    );
    expect(total.series[0]?.bars[1]?.counts).toEqual([5, 6]);
    expect(total.reasons).toEqual([]);
  });

  it("are empty for a flag that was not evaluated, whatever it is called", () => {
    expect(isEmpty(chartOf({ ...charted([]), flagKey: "constructor" }, results))).toBe(true);
    expect(isEmpty(chart)).toBe(false);
  });
});

describe("comparisons", () => {
  it("divide the time into the period and the one before", () => {
    const reasons = { reasons: { x: 1 } };
    const found = charted([interval(8, 1, 0, reasons), interval(10, 2, 0, reasons), interval(11, 3, 0)]);
    const chart = chartOf({ ...found, withBefore: true }, results);
    expect(chart.series.map(({ name, bars }) => [name, bars.map(({ counts }) => counts[0])])).toEqual([
      ["This period", [2, 3]],
      ["The period before", [1, 0]],
    ]);
    expect(chart.series[1]?.bars[0]?.start).toBe(Date.parse(hour(8)));
    expect(chart.reasons).toEqual([{ reason: "x", count: 1, isOff: false }]);
    expect(timeOf(chart).since).toBe(Date.parse(hour(10)));
  });

  it("put the same time of another environment beside each bar, in the same parts", () => {
    const other = { name: "Staging", ...charted([interval(9, 0, 7, { variants: { red: 0 } })]) };
    const chart = chartOf(charted([interval(9, 4, 1)]), { ...results, name: "Production", other });
    expect(chart.series.map(({ name }) => name)).toEqual(["Production", "Staging"]);
    expect(chart.series.map(({ bars }) => bars[1]?.counts)).toEqual([
      [4, 1],
      [0, 7],
    ]);
  });
});

describe("environments of which one has longer bars", () => {
  it("are compared in the longer ones", () => {
    const long = { ...summary([interval(8, 5, 0)]), interval: "2h" };
    const other = { ...charted([]), summary: long, name: "Staging" };
    const chart = chartOf(charted([interval(8, 1, 0), interval(9, 2, 1), interval(11, 4, 0)]), { ...results, other });
    expect(chart.interval).toBe("2h");
    expect(chart.series.map(({ bars }) => bars.map(({ counts }) => counts))).toEqual([
      [
        [3, 1],
        [4, 0],
      ],
      [
        [5, 0],
        [0, 0],
      ],
    ]);
  });
});

describe("variants and reasons", () => {
  const variants = { red: 3, off: 2 };

  it("are the parts, by name, and a variant may be called off", () => {
    const chart = chartOf(charted([interval(8, 6, 4, { variants })]), { ...results, split: "variant" });
    expect(chart.parts.map(({ name }) => name)).toEqual(["off", "red", "On without a variant", "Off"]);
    const bar = chart.series[0]?.bars[0];
    expect(bar?.counts).toEqual([2, 3, 1, 4]);
    expect(bar && inWords(bar, chart.parts, "count")).toBe("off 2, red 3, 1 on without a variant, 4 off");
  });

  it("have at most six colours: the rarest are added up", () => {
    const reasons = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`reason ${index}`, 10 - index]));
    const chart = chartOf(charted([interval(8, 52, 0, { reasons })]), { ...results, split: "reason" });
    expect(chart.parts.map(({ name }) => name)).toEqual([
      "reason 0",
      "reason 1",
      "reason 2",
      "reason 3",
      "reason 4",
      "Other reasons",
    ]);
    expect(new Set(chart.parts.map(({ colour }) => colour.light)).size).toBe(6);
    expect(chart.series[0]?.bars[0]?.counts.at(-1)).toBe(5 + 4 + 3);
  });
});

describe("days of a time zone", () => {
  const day = (start: string, on: number) => ({ start, on, off: 0, reasons: {}, off_reasons: [] });
  const ofBerlin: Summary = {
    since: "2026-10-23T22:00:00.000000Z",
    until: "2026-10-27T23:00:00.000000Z",
    interval: "1d",
    predecessors: [],
    tz: "Europe/Berlin",
    flags: { a: [day("2026-10-23T22:00:00.000000Z", 1), day("2026-10-25T23:00:00.000000Z", 2)] },
  };

  it("have a bar each, also where clocks are changed", () => {
    const chart = chartOf({ summary: ofBerlin, flagKey: "a", withBefore: false }, results);
    expect(chart.zone).toBe("Europe/Berlin");
    expect(chart.series[0]?.bars.map(({ start, end, total }) => [(end - start) / 3_600_000, total])).toEqual([
      [24, 1],
      [25, 0],
      [24, 2],
      [24, 0],
    ]);
  });

  it("are compared day by day", () => {
    const chart = chartOf({ summary: ofBerlin, flagKey: "a", withBefore: true }, results);
    expect(chart.series.map(({ bars }) => bars.map(({ total }) => total))).toEqual([
      [2, 0],
      [1, 0],
    ]);
  });
});
