import { describe, expect, it } from "vitest";
import { localMinute, markersOf } from "./markers";

const START = Date.parse("2026-11-20T00:00:00Z");
const HOUR = 3_600_000;
const bars = Array.from({ length: 24 }, (_, hour) => ({
  start: START + hour * HOUR,
  end: START + (hour + 1) * HOUR,
}));

function interval(hour: number, changes = 1, segment_changes = 0) {
  const start = new Date(START + hour * HOUR).toISOString();
  return {
    start,
    changes,
    segment_changes,
    newest: { id: String(hour), at: start, actor_email: "ada@acme.com", action: "flag.toggled", flag_key: "a" },
  };
}

describe("markers", () => {
  it("stand at the bars in which something changed", () => {
    const [first, second] = markersOf(bars, [interval(0), interval(23, 2, 1)], 24);
    expect(first).toMatchObject({ start: START, end: START + HOUR, changes: 1, middle: 0.5 / 24 });
    expect(second).toMatchObject({ changes: 2, segmentChanges: 1, middle: 23.5 / 24 });
  });

  it("are thinned to as many as there is room for, and then stand for several changes", () => {
    const found = markersOf(
      bars,
      bars.map((_, hour) => interval(hour)),
      10,
    );
    expect(found).toHaveLength(8);
    expect(found.map(({ changes }) => changes)).toEqual([3, 3, 3, 3, 3, 3, 3, 3]);
    expect(found[0]?.newest.id).toBe("2");
    expect(markersOf(bars, [interval(1)], 0)).toHaveLength(1);
  });

  it("leave out what is not on the chart", () => {
    expect(markersOf(bars, [interval(-1), interval(24)], 24)).toEqual([]);
    expect(markersOf([], [interval(0)], 24)).toEqual([]);
  });
});

it("rounds to the minutes of the audit's fields", () => {
  const moment = new Date(2026, 10, 20, 9, 5, 30).getTime();
  expect(localMinute(moment)).toBe("2026-11-20T09:05");
  expect(localMinute(moment, { up: true })).toBe("2026-11-20T09:06");
});
