import { expect, it } from "vitest";
import type { Summary } from "./historyCalls";
import { sinceOf } from "../../ui/charts/periods";
import { barsOf, inTotal, reasonsOf } from "./series";

const interval = (
  hour: number,
  on: number,
  off: number,
  reasons: Record<string, number> = {},
  off_reasons: string[] = [],
) => ({
  start: `2026-11-20T${String(hour).padStart(2, "0")}:00:00.000000Z`,
  on,
  off,
  reasons,
  off_reasons,
});
const summary: Summary = {
  since: "2026-11-20T10:00:00.000000Z",
  until: "2026-11-20T13:00:00.000000Z",
  interval: "1h",
  predecessors: [],
  tz: "UTC",
  flags: { a: [interval(10, 1, 0), interval(12, 2, 3)], b: [interval(12, 4, 0)] },
};

it("includes empty intervals", () => {
  const bars = barsOf(summary, summary.flags.a ?? []);
  expect(bars.map(({ on, off }) => [on, off])).toEqual([
    [1, 0],
    [0, 0],
    [2, 3],
  ]);
});

it("has no reasons for all flags together", () => {
  const { start } = interval(12, 6, 3);
  expect(inTotal({ ...summary, flags: {}, total: [{ start, on: 6, off: 3 }] })).toEqual([interval(12, 6, 3)]);
  expect(inTotal(summary)).toEqual([]);
});

it("counts reasons, most frequent first, and knows which mean off", () => {
  const counted = reasonsOf([interval(10, 1, 2, { x: 1, y: 2 }, ["y"]), interval(11, 0, 1, { y: 1 }, ["y"])]);
  expect(counted).toEqual([
    { reason: "y", count: 3, isOff: true },
    { reason: "x", count: 1, isOff: false },
  ]);
});

it("covers whole intervals that end with the current one", () => {
  expect(sinceOf("day", Date.parse("2026-11-20T10:30:00Z"), "UTC")).toBe("2026-11-19T11:00:00.000Z");
  expect(sinceOf("day", Date.parse("2026-11-20T10:20:00Z"), "Asia/Kolkata")).toBe("2026-11-19T10:30:00.000Z");
});
