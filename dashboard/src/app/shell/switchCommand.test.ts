import { expect, it } from "vitest";
import type { ProjectFlag } from "../../features/flags/flagCache";
import type { FlagInBrief } from "../../features/flags/projectFlagsCalls";
import { readSwitchCommand, switchable } from "./switchCommand";

const production = { id: "p", name: "Production", key: "production" };
const staging = { id: "s", name: "Staging (EU)", key: "staging" };
const ALL = [production, staging];

function flag(key: string, ...states: readonly [string, boolean, string?][]): ProjectFlag {
  const flags = states.map(([environment_id, enabled, archived_at = null]) => ({
    id: key + environment_id,
    environment_id,
    enabled,
    archived_at,
  }));
  return { key, differs: [], flags: flags as FlagInBrief[] };
}

it("reads what is to be turned on or off, and where", () => {
  expect(readSwitchCommand("turn off new-checkout in Prod", ALL)).toEqual({
    enabled: false,
    flag: "new-checkout",
    environments: [production],
    everywhere: false,
  });
  expect(readSwitchCommand(" Turn ON  checkout ", ALL)).toEqual({
    enabled: true,
    flag: "checkout",
    environments: ALL,
    everywhere: false,
  });
  expect(readSwitchCommand("disable checkout in staging", ALL)?.environments).toEqual([staging]);
  expect(readSwitchCommand("enable checkout", ALL)?.enabled).toBe(true);
  expect(readSwitchCommand("turn off in production", ALL)).toMatchObject({ flag: "", environments: [production] });
});

it("takes “in” for a part of the name if no environment is called like that", () => {
  expect(readSwitchCommand("turn off sign in button", ALL)).toMatchObject({
    flag: "sign in button",
    environments: ALL,
  });
  expect(readSwitchCommand("turn off sign in button in prod", ALL)).toMatchObject({
    flag: "sign in button",
    environments: [production],
  });
});

it("reads that a flag is to be turned off in all environments, but not on", () => {
  const all = { flag: "checkout", environments: ALL };
  expect(readSwitchCommand("turn off checkout in all environments", ALL)).toEqual({
    ...all,
    enabled: false,
    everywhere: true,
  });
  expect(readSwitchCommand("disable checkout in all ", ALL)).toEqual({ ...all, enabled: false, everywhere: true });
  expect(readSwitchCommand("turn on checkout in all", ALL)).toEqual({ ...all, enabled: true, everywhere: false });
});

it("leaves other texts to the rest of the palette", () => {
  for (const text of ["", "turn", "turn offers", "production", "disabled", "return on"]) {
    expect(readSwitchCommand(text, ALL)).toBeNull();
  }
});

it("finds the flags that would change, those of the open environment first", () => {
  const found = [flag("a", ["p", true], ["s", true]), flag("b", ["p", false], ["s", true, "2026-11-20T10:00:00Z"])];
  const command = readSwitchCommand("turn off x", ALL);
  expect(command && switchable(command, found, "s").map(({ flag: { id } }) => id)).toEqual(["as", "ap"]);
  expect(command && switchable(command, found, null, false).map(({ flag: { id } }) => id)).toEqual(["bp"]);
  expect(command && switchable({ ...command, enabled: true }, found, null).map(({ flag: { id } }) => id)).toEqual([
    "bp",
  ]);
});
