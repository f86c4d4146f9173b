/** Access tokens as they are created. */

import type { OwnPermissions, Permission } from "../../api/members";
import type { NewToken } from "./tokensCalls";
import { type ExpiryDraft, momentOf } from "./expiry";
import { ALL_PERMISSIONS } from "../projects/permissions";

export interface TokenDraft extends ExpiryDraft {
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** The ids of environments; empty for all. */
  readonly environments: readonly string[];
  readonly current_password: string;
}

export const NEW_TOKEN: TokenDraft = {
  name: "",
  permissions: [],
  environments: [],
  expires_at: "90",
  date: "",
  current_password: "",
};

export const GROUPS = {
  project: ["project:read", "project:write", "project:delete", "environments:write", "segments:write"],
  flags: ["flags:read", "flags:write", "flags:toggle", "rules:write"],
  history: ["evaluations:read", "users:export", "users:erase", "audit:read", "comments:write", "comments:moderate"],
  key: ["keys:read", "keys:rotate"],
  webhooks: ["webhooks:read", "webhooks:write"],
  team: ["members:read", "members:write", "owners:write", "tokens:read", "tokens:write"],
} as const satisfies Record<string, readonly Permission[]>;

export const PRESETS = {
  read: ["project:read", "flags:read", "evaluations:read", "audit:read"],
  toggle: ["flags:read", "flags:toggle"],
  ci: ["project:read", "flags:read", "flags:write", "flags:toggle", "rules:write"],
} as const satisfies Record<string, readonly Permission[]>;

/** The permissions that the account may give a token for these environments of a project; a personal token may have any. */
export function grantable(own: OwnPermissions | undefined, environmentKeys: readonly string[]): readonly Permission[] {
  if (!own) return ALL_PERMISSIONS;
  const places = environmentKeys.length > 0 ? environmentKeys.map((key) => own.environments[key]) : [own.permissions];
  return ALL_PERMISSIONS.filter((permission) => places.every((allowed) => allowed?.includes(permission)));
}

export function tokenOf(draft: TokenDraft, allowed: readonly Permission[], now: number): NewToken {
  return {
    name: draft.name,
    permissions: draft.permissions.filter((each) => allowed.includes(each)),
    environments: draft.environments.length > 0 ? [...draft.environments] : null,
    expires_at: momentOf(draft, now),
    current_password: draft.current_password || null,
  };
}
