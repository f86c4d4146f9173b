import { expect, it } from "vitest";
import type { Permission } from "../api/members";
import { neededFor, reasonAgainst, rolesDraftOf, rolesInWords, rolesOf } from "./roles";

const roles: Record<string, Permission[]> = {
  owner: ["project:read", "flags:write", "members:write", "owners:write"],
  admin: ["project:read", "flags:write", "members:write"],
  editor: ["project:read", "flags:write"],
  viewer: ["project:read"],
};
const viewer = {
  role: "viewer" as const,
  permissions: ["project:read" as const],
  environments: { production: [], staging: ["flags:write" as const] },
  roles,
};

it("keeps the roles in environments, but for an owner", () => {
  const draft = rolesDraftOf({ role: "viewer", environments: { staging: "editor" } }, ["production", "staging"]);
  expect(draft.environments).toEqual({ production: "", staging: "editor" });
  expect(rolesOf(draft)).toEqual({ role: "viewer", environments: { staging: "editor" } });
  expect(rolesOf({ ...draft, role: "owner" })).toEqual({ role: "owner", environments: {} });
});

it("describes roles in one line", () => {
  expect(rolesInWords({ role: "viewer", environments: { staging: "editor" } })).toBe("Viewer, Editor in staging");
});

it("names the permission that is missing, where, and who can give it", () => {
  expect(reasonAgainst(viewer, "project:read")).toBeNull();
  expect(reasonAgainst(undefined, "members:write")).toBeNull();
  expect(reasonAgainst(viewer, neededFor("owner"))).toBe(
    "This requires the permission owners:write in the whole project, which your role does not have. An owner can give you a role that has it.",
  );
  expect(reasonAgainst(viewer, "flags:write", { key: "staging", name: "Staging" })).toBeNull();
  expect(reasonAgainst(viewer, "flags:write", { key: "production", name: "Production" })).toBe(
    "This requires the permission flags:write in the environment Production, which your role does not have. An owner or an admin can give you a role that has it.",
  );
});
