/** Roles as they are edited, and why a control is not available. Only the server decides what a role allows. */

import type { OwnPermissions, Permission, Role, Roles } from "../api/members";
import { common } from "./commonTexts";
import { rolesTexts } from "./rolesTexts";
import { capitalised } from "./capitalised";

export const ROLES = ["owner", "admin", "editor", "viewer"] as const satisfies readonly Role[];
export const ENVIRONMENT_ROLES = ["admin", "editor", "viewer"] as const;
type EnvironmentRole = (typeof ENVIRONMENT_ROLES)[number];

export interface RolesDraft {
  readonly role: Role;
  /** By environment key; empty where the role in the project applies. */
  readonly environments: Readonly<Record<string, EnvironmentRole | "">>;
}

export function rolesDraftOf({ role, environments }: Roles, keys: readonly string[]): RolesDraft {
  return { role, environments: Object.fromEntries(keys.map((key) => [key, environments[key] ?? ""])) };
}

/** The role of an owner applies everywhere. */
export function rolesOf({ role, environments }: RolesDraft): Roles {
  const own = Object.entries(environments).filter((entry): entry is [string, EnvironmentRole] => entry[1] !== "");
  return { role, environments: role === "owner" ? {} : Object.fromEntries(own) };
}

/** "editor, and viewer in production". */
export function rolesInWords({ role, environments }: Roles): string {
  const own = Object.entries(environments).map(([key, inIt]) => rolesTexts.roleIn(rolesTexts.roles[inIt], key));
  return [rolesTexts.roles[role], ...own].join(", ");
}

/**
 * Why the account may not do something in an environment, or without one in the whole project. Null if it may, or if
 * that is not known yet.
 */
export function reasonAgainst(
  own: OwnPermissions | undefined,
  permission: Permission,
  environment?: { readonly key: string; readonly name: string },
): string | null {
  if (!own) return null;
  const allowed = (environment && own.environments[environment.key]) ?? own.permissions;
  if (allowed.includes(permission)) return null;
  const place = environment ? rolesTexts.inEnvironment(environment.name) : rolesTexts.inProject;
  return rolesTexts.forbidden(permission, place, grantersOf(own, permission));
}

/** The people who can give a role with a permission: "An owner or an admin". */
function grantersOf(own: OwnPermissions, permission: Permission): string {
  const isOfOwners = ROLES.every((role) => role === "owner" || !own.roles[role]?.includes(permission));
  const needed = isOfOwners ? neededFor("owner") : neededFor("viewer");
  const names = ROLES.filter((role) => own.roles[role]?.includes(needed)).map((role) => rolesTexts.oneOf[role]);
  return capitalised(names.join(common.or));
}

/** Changing an owner requires more than changing another member. */
export function neededFor(role: Role): Permission {
  return role === "owner" ? "owners:write" : "members:write";
}
