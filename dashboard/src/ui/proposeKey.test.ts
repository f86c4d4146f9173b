import { expect, it } from "vitest";
import { proposeEnvironmentKey, proposeFlagKey } from "./proposeKey";

it.each([
  ["New checkout", "new-checkout"],
  ["  Größe & Straße!  ", "grosse-strasse"],
  ["2nd try", "nd-try"],
  ["snake_case", "snake_case"],
  ["日本", ""],
  ["Ünïcödé", "unicode"],
])("proposes for the flag %j the key %j", (name, key) => {
  expect(proposeFlagKey(name)).toBe(key);
});

it("allows an environment's key to start with a digit", () => {
  expect(proposeEnvironmentKey("2nd region")).toBe("2nd-region");
});

it("proposes only valid keys", () => {
  expect(proposeFlagKey("a".repeat(300))).toHaveLength(128);
});
