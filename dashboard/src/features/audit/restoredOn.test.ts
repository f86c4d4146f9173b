import { expect, it } from "vitest";
import type { Environment } from "../../api/client";
import type { Alteration } from "./restoresCalls";
import { turnedOnBy } from "./restoredOn";

const environments = [
  { id: "live", name: "Production", critical: true },
  { id: "test", name: "Staging", critical: false },
] as Environment[];
const on: Alteration = {
  action: "flag.toggled",
  resource_id: "flag",
  environment_id: "live",
  flag_key: "new-checkout",
  turns_on: true,
  fields: [],
};
const turned = (...alterations: Alteration[]) => turnedOnBy(alterations, "project", environments);

it("finds the flags that a restore turns on in critical environments", () => {
  expect(turned(on, { ...on, environment_id: "test" })).toEqual({
    environment: "Production",
    flags: [{ name: "new-checkout", path: { project_id: "project", env_id: "live", flag_id: "flag" } }],
  });
});

it("finds none if flags are not turned on, or in other environments", () => {
  expect(turned()).toBeNull();
  expect(turned({ ...on, environment_id: "test" })).toBeNull();
  expect(turned({ ...on, turns_on: false })).toBeNull();
  expect(turned({ ...on, environment_id: null })).toBeNull();
});

it("has no path to a flag that comes back, whose users cannot be counted", () => {
  for (const action of ["flag.created", "flag.unarchived"])
    expect(turned({ ...on, action })?.flags).toEqual([{ name: "new-checkout", path: null }]);
});
