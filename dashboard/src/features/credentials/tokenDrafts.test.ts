import { expect, it } from "vitest";
import type { OwnPermissions } from "../../api/members";
import { ALL_PERMISSIONS } from "../projects/permissions";
import { grantable, GROUPS, NEW_TOKEN, tokenOf } from "./tokenDrafts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const own: OwnPermissions = {
  role: "viewer",
  permissions: ["project:read"],
  environments: { production: ["project:read"], staging: ["project:read", "flags:write"] },
  roles: {},
};

it("has every permission in one group", () => {
  expect(Object.values(GROUPS).flat()).toEqual(expect.arrayContaining(ALL_PERMISSIONS));
  expect(Object.values(GROUPS).flat()).toHaveLength(ALL_PERMISSIONS.length);
});

it("offers what the maker has in all chosen environments", () => {
  expect(grantable(own, [])).toEqual(["project:read"]);
  expect(grantable(own, ["staging"])).toEqual(["project:read", "flags:write"]);
  expect(grantable(own, ["production", "staging"])).toEqual(["project:read"]);
  expect(grantable(undefined, [])).toEqual(ALL_PERMISSIONS);
});

it("leaves out permissions that the maker does not have", () => {
  const draft = { ...NEW_TOKEN, name: "CI", permissions: ["flags:write", "project:read"] as const };
  expect(tokenOf(draft, grantable(own, []), NOW)).toEqual({
    name: "CI",
    permissions: ["project:read"],
    environments: null,
    expires_at: "2027-02-18T10:00:00.000Z",
    current_password: null,
  });
});

it("expires at the end of a day, or never", () => {
  const { expires_at: at } = tokenOf({ ...NEW_TOKEN, expires_at: "date", date: "2026-12-31" }, [], NOW);
  expect(new Date(at ?? "").toTimeString()).toMatch(/^23:59:59/);
  expect(tokenOf({ ...NEW_TOKEN, expires_at: "never" }, [], NOW).expires_at).toBeNull();
});
