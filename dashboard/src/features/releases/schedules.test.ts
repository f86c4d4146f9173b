import { expect, it } from "vitest";
import { comesTwice, localMoment, nextHour, readMoment, scheduleOf } from "./schedules";
import { inUtc } from "../../ui/time";

const DRAFT = { rule: "", to: "off", at: "2026-11-28T09:00", name: " Sale ends ", whenLate: "skip" } as const;

it("reads what it writes", () => {
  const at = new Date("2026-11-28T09:30:00Z");
  expect(readMoment(localMoment(at))).toEqual(at);
  expect(inUtc(at)).toBe("Nov 28, 2026, 09:30 UTC");
  expect(comesTwice(at)).toBe(false);
});

it("refuses what is no moment", () => {
  expect(readMoment("")).toBe("invalid");
  expect(readMoment("2026-02-30T09:00x")).toBe("invalid");
});

it("proposes a full hour that is neither over nor just about to begin", () => {
  const now = Date.parse("2026-11-28T09:40:00Z");
  const proposed = readMoment(nextHour(now));
  if (!(proposed instanceof Date)) throw new Error("it is a moment");
  expect(proposed.getTime() - now).toBeGreaterThanOrEqual(30 * 60_000);
  expect(proposed.getTime() - now).toBeLessThanOrEqual(90 * 60_000);
  expect(proposed.getMinutes()).toBe(0);
});

it("schedules the flag, or one of its rules", () => {
  const at = new Date("2026-11-28T09:00:00Z");
  expect(scheduleOf(DRAFT, at)).toEqual({
    name: "Sale ends",
    steps: [{ at: "2026-11-28T09:00:00.000Z", changes: { enabled: false } }],
    when_late: "skip",
  });
  const ofRule = scheduleOf({ ...DRAFT, rule: "r", to: "on", name: "" }, at);
  expect([ofRule.name, ofRule.steps[0]?.changes]).toEqual([null, { rules: [{ id: "r", enabled: true }] }]);
});
