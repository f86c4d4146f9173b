import { expect, it } from "vitest";
import { isEven, percent, scaled, without, withOneMore, withWeight } from "./weights";

const sum = (weights: readonly number[]) => weights.reduce((all, each) => all + each, 0);

it.each([[[1]], [[1, 1, 1]], [[1, 2]], [[7, 11, 13, 17]], [[0, 0, 5]], [[999, 1, 1]], [Array<number>(50).fill(3)]])(
  "scales %j to exactly 1000",
  (weights) => expect(sum(scaled(weights))).toBe(1000),
);

it("gives what rounding leaves to the weights that lost most, and among these to the first", () => {
  expect(scaled([1, 1, 1])).toEqual([334, 333, 333]);
  expect(scaled([1, 2, 3, 1])).toEqual([143, 286, 428, 143]);
});

it("knows an even division, whatever its sum", () => {
  expect([[], [5], [1, 1], [334, 333, 333], [333, 333, 334]].every(isEven)).toBe(true);
  expect(
    [
      [1, 2],
      [900, 100],
      [500, 500, 0],
    ].some(isEven),
  ).toBe(false);
});

it("keeps the proportions of the other weights when one is set", () => {
  expect(withWeight([500, 300, 200], 0, 0)).toEqual([0, 600, 400]);
  expect(withWeight([500, 300, 200], 1, 650)).toEqual([250, 650, 100]);
  expect(withWeight([1000, 0, 0], 0, 400)).toEqual([400, 300, 300]);
  expect(withWeight([1, 1], 0, 250)).toEqual([250, 750]);
});

it("keeps an even division even when variants are added and removed", () => {
  expect(withOneMore([])).toEqual([1000]);
  expect(withOneMore([500, 500])).toEqual([334, 333, 333]);
  expect(without([334, 333, 333], 1)).toEqual([500, 500]);
  expect(without([1000], 0)).toEqual([]);
});

it("moves no user when a variant is added to a division that is not even", () => {
  expect(withOneMore([9, 1])).toEqual([9, 1, 0]);
  expect(without([9, 1, 0], 2)).toEqual([9, 1]);
});

it("divides the users of a removed variant among the others in proportion", () => {
  expect(without([900, 50, 50], 2)).toEqual([947, 53]);
  expect(without([1000, 0, 0], 0)).toEqual([500, 500]);
});

it("shows shares with at most one decimal", () => {
  expect([1000, 334, 5, 0].map(percent)).toEqual(["100%", "33.4%", "0.5%", "0%"]);
});
