import { expect, it } from "vitest";
import { placeBeside } from "./currentFlag";

const b = { id: "b", among: ["a", "b", "c", "d"] };

it("starts at the first flag", () => {
  expect(placeBeside(null, 1, ["a", "b"])).toBe(0);
  expect(placeBeside(null, -1, ["a", "b"])).toBe(0);
});

it("moves from the current flag, wherever it is listed now", () => {
  expect(placeBeside(b, 1, ["a", "b", "c"])).toBe(2);
  expect(placeBeside(b, 1, ["x", "y", "a", "b", "c"])).toBe(4);
  expect(placeBeside(b, -1, ["c", "b"])).toBe(0);
});

it("stays at both ends", () => {
  expect(placeBeside(b, 1, ["a", "b"])).toBe(1);
  expect(placeBeside(b, -1, ["b", "c"])).toBe(0);
});

it("moves to the next flag of the former list if the current one is gone", () => {
  expect(placeBeside(b, 1, ["x", "a", "d"])).toBe(2);
  expect(placeBeside(b, -1, ["x", "a", "d"])).toBe(1);
});

it("moves to the nearest flag on the other side at the end of the former list, and else to the first", () => {
  expect(placeBeside(b, -1, ["x", "d", "c"])).toBe(2);
  expect(placeBeside(b, 1, ["x", "a"])).toBe(1);
  expect(placeBeside(b, 1, ["x", "y"])).toBe(0);
});
