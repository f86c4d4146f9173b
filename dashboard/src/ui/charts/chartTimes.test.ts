import { describe, expect, it } from "vitest";
import { barTimes, fitted, isLongest, isShortest, MOST_BARS, moved, placeOf, type Span, spanOf, spanSearch, zoomedIn, zoomedOut } from "./chartTimes"; // prettier-ignore

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.parse("2026-11-20T12:00:00Z");
const NOW = NOON + 12 * HOUR;
const span: Span = { since: NOON, until: NOON + 4 * HOUR };

const bars = ({ since, until, interval }: { since: number; until: number; interval: string }) => {
  const unit = { m: MINUTE, h: HOUR, d: DAY }[interval.slice(-1)] ?? 0;
  return (until - since) / (Number.parseInt(interval, 10) * unit);
};

describe("the time in the URL", () => {
  it("is what was written there", () => {
    expect(spanSearch(span)).toEqual({ since: "2026-11-20T12:00Z", until: "2026-11-20T16:00Z" });
    expect(spanOf(spanSearch(span))).toEqual(span);
  });

  it("is around a moment, which comes first", () => {
    expect(spanOf({ at: "2026-11-20T12:00:00Z", ...spanSearch(span) })).toEqual({
      since: NOON - 3 * HOUR,
      until: NOON + 3 * HOUR,
    });
  });

  it.each([
    {},
    { since: "2026-11-20T12:00Z" },
    { since: "soon", until: "2026-11-20T12:00Z" },
    { since: "2026-11-20T12:00Z", until: "2026-11-20T12:00Z" },
    { at: "then" },
  ])("is none in %j", (search) => {
    expect(spanOf(search)).toBeNull();
  });

  it("is at most a year", () => {
    expect(spanOf({ since: "1970-01-01T00:00Z", until: "2026-11-20T12:00Z" })?.since).toBe(NOON - 366 * DAY);
  });
});

describe.each(["UTC", "Asia/Kathmandu"])("the bars in %s", (zone) => {
  it.each([
    ["hour", 30],
    ["day", 24],
    ["week", 28],
    ["month", 30],
  ] as const)("of the last %s are %i and end with the one that grows", (period, count) => {
    const times = barTimes({ period, span: null, zone }, NOW - 1, false);
    expect(bars(times)).toBe(count);
    expect(times.until).toBeGreaterThanOrEqual(NOW);
  });

  it("are as many again with the period before", () => {
    const alone = barTimes({ period: "week", span: null, zone }, NOW, false);
    const both = barTimes({ period: "week", span: null, zone }, NOW, true);
    expect([bars(both), both.until]).toEqual([2 * bars(alone), alone.until]);
  });

  it("are fewer where so many are too many, and still cover the period", () => {
    for (const [period, hours] of [
      ["day", 24],
      ["week", 168],
      ["month", 720],
    ] as const) {
      // prettier-ignore
      const times = barTimes({ period, span: null, zone }, NOW - 1, true, 12);
      expect(bars(times)).toBeLessThanOrEqual(2 * 13);
      expect(times.until - times.since).toBeGreaterThanOrEqual(2 * hours * HOUR);
    }
    expect(bars(barTimes({ period: "day", span: { since: NOON - 366 * DAY, until: NOON }, zone }, NOW, false, 3))).toBe(
      4,
    );
  });

  it("are whole and never many, however long the time is", () => {
    for (let length = 10 * MINUTE; length <= 366 * DAY; length *= 1.3) {
      const times = barTimes({ period: "day", span: { since: NOON - length, until: NOON + 1 }, zone }, NOW, false);
      expect(Number.isInteger(bars(times))).toBe(true);
      expect(bars(times)).toBeLessThanOrEqual(MOST_BARS + 1);
      expect(times.since).toBeLessThanOrEqual(NOON - length);
      expect(times.until).toBeGreaterThan(NOON);
    }
  });
});

it("has as many days as usual, from midnight to midnight, where clocks are changed", () => {
  const month = { period: "month", span: null, zone: "Europe/Berlin" } as const;
  for (let hour = 0; hour < 24; hour += 1) {
    const { since, until } = barTimes(month, Date.parse("2026-11-05T00:30:00+01:00") + hour * HOUR, false);
    expect([since, until].map((each) => new Date(each).toISOString())).toEqual([
      "2026-10-06T22:00:00.000Z",
      "2026-11-05T23:00:00.000Z",
    ]);
  }
});

describe("zooming", () => {
  it("halves and doubles the time around its middle", () => {
    expect(zoomedIn(span, NOW)).toEqual({ since: NOON + HOUR, until: NOON + 3 * HOUR });
    expect(zoomedOut(zoomedIn(span, NOW), NOW)).toEqual(span);
  });

  it("stops at ten minutes and at a year", () => {
    let [inside, outside] = [span, span];
    for (let step = 0; step < 20; step += 1) [inside, outside] = [zoomedIn(inside, NOW), zoomedOut(outside, NOW)];
    expect([inside.until - inside.since, isShortest(inside)]).toEqual([10 * MINUTE, true]);
    expect([outside.until - outside.since, isLongest(outside)]).toEqual([366 * DAY, true]);
    expect([isShortest(span), isLongest(span)]).toEqual([false, false]);
  });

  it("moves by half, but not beyond now", () => {
    expect(moved(span, 1, NOW)).toEqual({ since: NOON - 2 * HOUR, until: NOON + 2 * HOUR });
    expect(moved(span, -1, NOW)).toEqual({ since: NOON + 2 * HOUR, until: NOON + 6 * HOUR });
    const last = { since: NOW - HOUR, until: NOW };
    expect([moved(last, -1, NOW), zoomedOut(last, NOW).until]).toEqual([last, NOW]);
  });

  it("rounds to whole minutes", () => {
    expect(fitted({ since: NOON + 1, until: NOON + 1 + 30 * MINUTE }, NOW)).toEqual({
      since: NOON,
      until: NOON + 31 * MINUTE,
    });
  });
});

it("finds the bar of a time after the chart has moved on, and the first one if it is no longer shown", () => {
  expect(placeOf(20, [10, 20, 30])).toBe(1);
  expect(placeOf(20, [20, 30, 40])).toBe(0);
  expect(placeOf(25, [10, 20, 30])).toBe(1);
  expect(placeOf(90, [10, 20, 30])).toBe(2);
  expect(placeOf(5, [10, 20, 30])).toBe(0);
});
