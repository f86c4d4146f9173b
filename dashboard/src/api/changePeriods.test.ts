import { expect, it } from "vitest";
import { periodOf, startOf } from "./changePeriods";

it("begins at a whole minute", () => {
  const now = Date.parse("2026-11-23T10:00:59.999Z");
  expect(startOf({}, now)).toBeUndefined();
  expect(startOf({ last: "hour" }, now)).toBe("2026-11-23T09:00:00.000Z");
  expect(startOf({ last: "week" }, now)).toBe("2026-11-16T10:00:00.000Z");
  expect(startOf({ since: "2026-11-23T04:05" }, now)).toBe(new Date("2026-11-23T04:05").toISOString());
});

it("tells a period with an end from all changes", () => {
  expect(periodOf({})).toBe("all");
  expect(periodOf({ until: "2026-11-23T04:05" })).toBe("between");
  expect(periodOf({ last: "day" })).toBe("day");
});
