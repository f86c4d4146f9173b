import { expect, it } from "vitest";
import { cursorOf } from "./cursors";

it("finds no cursor where nothing follows", () => {
  expect(cursorOf(null)).toBeNull();
  expect(cursorOf('<?limit=50&cursor=W10>; rel="prev"')).toBeNull();
});

it("finds the cursor of the next part", () => {
  expect(cursorOf('<?limit=50&cursor=WyIyMDI2LTEx-_>; rel="next"')).toBe("WyIyMDI2LTEx-_");
});
