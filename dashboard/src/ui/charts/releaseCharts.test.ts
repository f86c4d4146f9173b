import { expect, it } from "vitest";
import { countScale, evidenceScale, nearest, partOf, spread, timePlaces, warningLine } from "./releaseCharts";

it("has the warning line half-way to the threshold from evidence for nothing", () => {
  const scale = evidenceScale([1, 2, 5], 40);
  expect(scale(warningLine(40)) - scale(1)).toBeCloseTo(scale(40) - scale(warningLine(40)));
});

it("shows evidence far below one at the bottom, and all that is above the threshold", () => {
  const scale = evidenceScale([1e-9, 1e6], 20);
  expect(scale(1e-9)).toBe(0);
  expect(scale(1e6)).toBe(1);
  expect(scale(20)).toBeCloseTo(0.64);
});

it("counts from zero, also without users", () => {
  expect(countScale([])(0)).toBe(0);
  expect(countScale([10, 40])(10)).toBe(0.25);
});

it("places moments by their time, and a single one at the end", () => {
  expect(timePlaces([0, 10, 40])).toEqual([0, 0.25, 1]);
  expect(timePlaces([7])).toEqual([1]);
  expect(timePlaces([])).toEqual([]);
});

it("finds the moment that is nearest to the pointer", () => {
  expect(nearest([0, 0.25, 1], 0.5)).toBe(1);
  expect(nearest([], 0.5)).toBeNull();
});

it("spreads what is told over the whole time", () => {
  expect(spread([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(
    spread(
      Array.from({ length: 101 }, (_, index) => index),
      5,
    ),
  ).toEqual([0, 25, 50, 75, 100]);
});

it("has the part of a chart in a time, with both of its ends", () => {
  const line = { name: "on", colour: "red", places: [0, null, 0.5, 1], words: ["0", "", "5", "9"] };
  const part = partOf({ times: [10, 20, 30, 40], lines: [line], most: "9" }, { since: 20, until: 30 });
  expect(part).toEqual({ times: [20, 30], lines: [{ ...line, places: [null, 0.5], words: ["", "5"] }], most: "9" });
});
