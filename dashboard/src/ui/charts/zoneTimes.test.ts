import { expect, it } from "vitest";
import { startIn, startsIn } from "./zoneTimes";

const HOUR = 3_600_000;
const BERLIN = "Europe/Berlin";

function starts(zone: string, since: string, until: string, step: number): string[] {
  const found = startsIn(zone, Date.parse(since), Date.parse(until), step);
  return found.map((start) => new Date(start).toISOString().slice(5, 16));
}

it("begins days at midnight, also those of 23 and of 25 hours", () => {
  expect(starts(BERLIN, "2026-03-27T23:00Z", "2026-03-30T22:00Z", 24 * HOUR)).toEqual([
    "03-27T23:00",
    "03-28T23:00",
    "03-29T22:00",
  ]);
  expect(starts(BERLIN, "2026-10-23T22:00Z", "2026-10-26T23:00Z", 24 * HOUR)).toEqual([
    "10-23T22:00",
    "10-24T22:00",
    "10-25T23:00",
  ]);
});

it("begins parts of a day at the hours of the clock, and at the change for an hour that is left out", () => {
  // At two o'clock, it was three.
  expect(starts(BERLIN, "2026-03-28T23:00Z", "2026-03-29T06:00Z", 2 * HOUR)).toEqual([
    "03-28T23:00",
    "03-29T01:00",
    "03-29T02:00",
    "03-29T04:00",
  ]);
  // At three o'clock, it was two.
  expect(starts(BERLIN, "2026-10-24T22:00Z", "2026-10-25T05:00Z", 2 * HOUR)).toEqual([
    "10-24T22:00",
    "10-25T00:00",
    "10-25T03:00",
  ]);
});

it("counts hours and minutes one after the other", () => {
  expect(starts(BERLIN, "2026-10-25T00:00Z", "2026-10-25T03:00Z", HOUR)).toEqual([
    "10-25T00:00",
    "10-25T01:00",
    "10-25T02:00",
  ]);
  const start = startIn("Asia/Kathmandu", Date.parse("2026-11-20T10:20:00Z"), HOUR);
  expect(new Date(start).toISOString()).toBe("2026-11-20T10:15:00.000Z");
});

it("counts several days from 1970, as the API does", () => {
  const start = startIn(BERLIN, Date.parse("2026-11-20T10:00:00Z"), 4 * 24 * HOUR);
  expect(new Date(start).toISOString()).toBe("2026-11-18T23:00:00.000Z");
});
