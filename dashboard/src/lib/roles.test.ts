import { expect, it } from "vitest";
import { neededFor, reasonAgainst, rolesDraftOf, rolesInWords, rolesOf } from "./roles";

const viewer = { role: "viewer" as const, permissions: ["project:read" as const], environments: {} };

it("keeps the roles in environments, but for an owner", () => {
  const draft = rolesDraftOf({ role: "viewer", environments: { staging: "editor" } }, ["production", "staging"]);
  expect(draft.environments).toEqual({ production: "", staging: "editor" });
  expect(rolesOf(draft)).toEqual({ role: "viewer", environments: { staging: "editor" } });
  expect(rolesOf({ ...draft, role: "owner" })).toEqual({ role: "owner", environments: {} });
});

it("describes roles in one line", () => {
  expect(rolesInWords({ role: "viewer", environments: { staging: "editor" } })).toBe("Viewer, Editor in staging");
});

it("names the permission that is missing", () => {
  expect(reasonAgainst(viewer, "project:read")).toBeNull();
  expect(reasonAgainst(undefined, "members:write")).toBeNull();
  expect(reasonAgainst(viewer, neededFor("owner"))).toContain("owners:write");
});
