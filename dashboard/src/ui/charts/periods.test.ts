import { expect, it } from "vitest";
import { intervalsFor } from "./periods";

it("uses the usual interval while all flags fit into one answer", () => {
  expect(intervalsFor("day", 4_000)).toEqual(["1h", "2h", "6h", "1d"]);
  expect(intervalsFor("hour", 1)[0]).toBe("2m");
});

it("uses longer intervals for more flags, and the longest for any number", () => {
  expect(intervalsFor("day", 5_000)[0]).toBe("2h");
  expect(intervalsFor("week", 1_000_000)).toEqual(["1d"]);
});
