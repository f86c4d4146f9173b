import { expect, it } from "vitest";
import { CHOSEN_MAX, withChoice } from "./withChoice";

it("chooses at most as many rows as the server takes", () => {
  const most = new Set(Array.from({ length: CHOSEN_MAX }, (_, place) => String(place)));
  expect(withChoice(most, "more", true).size).toBe(CHOSEN_MAX);
  expect([...withChoice(new Set(["1"]), "2", true)]).toEqual(["1", "2"]);
  expect([...withChoice(new Set(["1"]), "1", false)]).toEqual([]);
});
