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
  unknown_attributes: [],
  complete: true,
};

it("says for how many users the result would change, and how", () => {
  expect(impactInWords({ ...NOTHING, changed: 12, turned_on: 10, turned_off: 2 })).toBe(
    "Would change the result for 12 of 340 users seen in the last 24 hours: 10 turned on, 2 turned off.",
  );
  expect(impactInWords({ ...NOTHING, changed: 1, variant_changed: 1 })).toContain(
    "24 hours: 1 with another variant or value.",
  );
  expect(impactInWords(NOTHING)).toBe(
    "Would not change the result for any of the 340 users seen in the last 24 hours.",
  );
});

it("says that nothing is known if no user was recorded", () => {
  expect(impactInWords({ ...NOTHING, users: 0 })).toContain("it is not known");
});

it("says what was not recorded and what was not examined", () => {
  const unknown = {
    without_attributes: 25,
    unknown_attributes: [
      { name: "contry", users: 25 },
      { name: "plan", users: 3 },
    ],
  };
  const words = impactInWords({ ...NOTHING, ...unknown, changed: 35, turned_on: 35, complete: false });
  expect(words).toContain(
    "for at least 35 of 340 users seen in the last 24 hours: 35 turned on. For 25 nobody can say:",
  );
  expect(words).toContain("contry or plan was not recorded.");
  expect(words).toContain("were examined, because there are many.");
  expect(impactInWords({ ...NOTHING, users: 25, ...unknown })).toBe(
    "Unknown: contry or plan was not recorded for any of 25 users seen in the last 24 hours.",
  );
});
