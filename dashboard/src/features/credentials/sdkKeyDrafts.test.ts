import { expect, it } from "vitest";
import type { Environment } from "../../api/client";
import type { OwnPermissions } from "../../api/members";
import type { SdkKey } from "./sdkKeysCalls";
import { environmentsWith, rotatedKeyOf, rotationOf, sdkKeyOf } from "./sdkKeyDrafts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const ORIGINS = ["https://shop.example.com"];
const DRAFT = {
  name: "Shop",
  environment: "staging",
  expires_at: "never",
  date: "",
  allowed_origins: ORIGINS,
} as const;
const environments = ["production", "staging"].map((key) => ({ key, name: key })) as Environment[];
const own: OwnPermissions = {
  role: "viewer",
  permissions: ["project:read"],
  environments: { production: ["project:read"], staging: ["project:read", "keys:rotate"] },
  roles: {},
};

it("creates a key that expires after the chosen days, or never", () => {
  const draft = { ...DRAFT, kind: "browser", expires_at: "30" } as const;
  const { expires_at: at, ...rest } = sdkKeyOf(draft, NOW);
  expect(rest).toEqual({ name: "Shop", environment: "staging", kind: "browser", allowed_origins: ORIGINS });
  expect(at).toBe("2026-12-20T10:00:00.000Z");
  expect(sdkKeyOf({ ...draft, expires_at: "never" }, NOW).expires_at).toBeNull();
});

it("creates a server’s key without the origins that were entered for a browser’s", () => {
  expect(sdkKeyOf({ ...DRAFT, kind: "server" }, NOW).allowed_origins).toEqual([]);
});

it("offers the environments in which the account may create keys", () => {
  expect(environmentsWith(own, "keys:rotate", environments).map(({ key }) => key)).toEqual(["staging"]);
  expect(environmentsWith(own, "project:read", environments)).toHaveLength(2);
  expect(environmentsWith(undefined, "keys:rotate", environments)).toHaveLength(2);
});

it("replaces a key by one of the same kind that works for about as long", () => {
  const old = {
    id: "old",
    name: "Shop",
    environment: "staging",
    kind: "browser",
    allowed_origins: ORIGINS,
    created_at: "2026-01-01T00:00:00Z",
    expires_at: "2026-04-01T00:00:00Z",
  } as SdkKey;
  expect(rotationOf(old)).toEqual({ name: "Shop", expires_at: "90", date: "" });
  expect(rotationOf({ ...old, expires_at: null }).expires_at).toBe("never");
  expect(rotationOf({ ...old, expires_at: "2026-01-20T00:00:00Z" }).expires_at).toBe("30");
  expect(rotationOf({ ...old, expires_at: "2027-01-01T00:00:00Z" }).expires_at).toBe("365");
  expect(rotatedKeyOf(old, { name: "Shop 2", expires_at: "30", date: "" }, NOW)).toEqual({
    name: "Shop 2",
    environment: "staging",
    kind: "browser",
    allowed_origins: ORIGINS,
    expires_at: "2026-12-20T10:00:00.000Z",
    replaces: "old",
  });
});
