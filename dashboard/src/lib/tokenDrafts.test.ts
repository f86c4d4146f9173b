import { expect, it } from "vitest";
import type { OwnPermissions } from "../api/members";
import type { AccessToken } from "../api/tokens";
import { ALL_PERMISSIONS } from "./roles";
import { expiryOf, grantable, GROUPS, isDay, NEW_TOKEN, tokenOf } from "./tokenDrafts";

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
  });
});

it("expires at the end of a day, or never", () => {
  const { expires_at: at } = tokenOf({ ...NEW_TOKEN, expires_at: "date", date: "2026-12-31" }, [], NOW);
  expect(new Date(at ?? "").toTimeString()).toMatch(/^23:59:59/);
  expect(tokenOf({ ...NEW_TOKEN, expires_at: "never" }, [], NOW).expires_at).toBeNull();
});

it("knows a day from what is no day", () => {
  expect(isDay("2026-12-31")).toBe(true);
  for (const text of ["", "20000-01-01", "2026-13-01"]) expect(isDay(text)).toBe(false);
});

it("tells when a token expires soon and when it has expired", () => {
  const at = (expires_at: string | null) => expiryOf({ expires_at } as AccessToken, NOW);
  expect(at(null)).toBe("never");
  expect(at("2026-11-20T10:00:00Z")).toBe("expired");
  expect(at("2026-11-27T10:00:00Z")).toBe("soon");
  expect(at("2026-11-27T10:00:01Z")).toBe("later");
});
