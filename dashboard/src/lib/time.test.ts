import { expect, it } from "vitest";
import { lasting } from "./time";

it("says how long something takes in its largest unit", () => {
  expect(lasting(-5)).toBe("0 seconds");
  expect(lasting(1_999)).toBe("1 second");
  expect(lasting(59_000)).toBe("59 seconds");
  expect(lasting(3 * 60_000 + 59_000)).toBe("3 minutes");
  expect(lasting(3_600_000)).toBe("1 hour");
});
