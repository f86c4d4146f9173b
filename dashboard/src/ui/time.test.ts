import { expect, it } from "vitest";
import { dateOf, inFull, inUtc, lasting } from "./time";

it("says how long something takes in its largest unit", () => {
  expect(lasting(-5)).toBe("0 seconds");
  expect(lasting(1_999)).toBe("1 second");
  expect(lasting(59_000)).toBe("59 seconds");
  expect(lasting(3 * 60_000 + 59_000)).toBe("3 minutes");
  expect(lasting(3_600_000)).toBe("1 hour");
});

it("has one form for moments, of which others are parts", () => {
  expect(inFull("2026-11-03T04:05:06Z")).toMatch(/^Nov \d, 2026, \d\d:\d\d:06 UTC(?:[+-]\d\d:\d\d)?$/);
  expect(inFull("2026-11-03T04:05:06Z", "Asia/Kathmandu")).toBe("Nov 3, 2026, 09:50:06 UTC+05:45");
  expect(inFull("2026-11-03T04:05:06Z", "America/New_York")).toBe("Nov 2, 2026, 23:05:06 UTC-05:00");
  expect(inFull("2026-11-03T04:05:06Z", "UTC")).toBe("Nov 3, 2026, 04:05:06 UTC");
  expect(dateOf("2026-11-03T23:59:59Z")).toBe("Nov 3, 2026");
  expect(inUtc(new Date("2026-11-03T04:05:06Z"))).toBe("Nov 3, 2026, 04:05 UTC");
});
