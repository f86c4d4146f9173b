import { expect, it } from "vitest";
import { impactInWords } from "./impact";

const NOTHING = {
  from: "2026-11-20T10:00:00Z",
  to: "2026-11-21T10:00:00Z",
  users: 340,
  changed: 0,
  turned_on: 0,
  turned_off: 0,
  variant_changed: 0,
  without_attributes: 0,
  complete: true,
};

it("says for how many users the result would change, and how", () => {
  expect(impactInWords({ ...NOTHING, changed: 12, turned_on: 10, turned_off: 2 })).toBe(
    "For 12 of the last day's 340 recorded users the result would change. 10 would get it turned on. 2 would get it turned off.",
  );
  expect(impactInWords({ ...NOTHING, changed: 1, variant_changed: 1 })).toContain(
    "1 would get another variant or value.",
  );
  expect(impactInWords(NOTHING)).toBe("For none of the last day's 340 recorded users the result would change.");
});

it("says that nothing is known if no user was recorded", () => {
  expect(impactInWords({ ...NOTHING, users: 0 })).toContain("it is not known");
});

it("says what was not recorded and what was not examined", () => {
  const words = impactInWords({ ...NOTHING, without_attributes: 25, complete: false });
  expect(words).toContain("For 25 of them it is not known, because their attributes were not recorded.");
  expect(words).toContain("were examined, because there are many.");
});
