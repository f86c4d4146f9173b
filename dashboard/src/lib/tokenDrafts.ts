/** Access tokens as they are created, and how long they still work. */

import type { OwnPermissions, Permission } from "../api/members";
import type { AccessToken, NewToken } from "../api/tokens";
import { ALL_PERMISSIONS } from "./roles";

export const EXPIRIES = ["30", "90", "365", "date", "never"] as const;

export interface TokenDraft {
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** The ids of environments; empty for all. */
  readonly environments: readonly string[];
  readonly expires_at: (typeof EXPIRIES)[number];
  /** The last day on which the token works, as in "2026-12-31". */
  readonly date: string;
}

export const NEW_TOKEN: TokenDraft = { name: "", permissions: [], environments: [], expires_at: "90", date: "" };

export const GROUPS = {
  project: ["project:read", "project:write", "project:delete", "environments:write", "segments:write"],
  flags: ["flags:read", "flags:write", "flags:toggle", "rules:write"],
  history: ["evaluations:read", "audit:read"],
  key: ["keys:read", "keys:rotate"],
  team: ["members:read", "members:write", "owners:write", "tokens:read", "tokens:write"],
} as const satisfies Record<string, readonly Permission[]>;

export const PRESETS = {
  read: ["project:read", "flags:read", "evaluations:read", "audit:read"],
  toggle: ["flags:read", "flags:toggle"],
  ci: ["project:read", "flags:read", "flags:write", "flags:toggle", "rules:write"],
} as const satisfies Record<string, readonly Permission[]>;

const DAY_MILLISECONDS = 86_400_000;
const SOON_MILLISECONDS = 7 * DAY_MILLISECONDS;

/** What the account may give a token for these environments of a project. A personal token may have any permission. */
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
  };
}

/** Whether a text is a day such as "2026-12-31". The year has four digits. */
export function isDay(text: string): boolean {
  return !Number.isNaN(Date.parse(endOf(text)));
}

function endOf(day: string): string {
  return `${day}T23:59:59`;
}

function momentOf({ expires_at: choice, date }: TokenDraft, now: number): string | null {
  if (choice === "never") return null;
  // To the end of the day where the person is.
  const end = choice === "date" ? new Date(endOf(date)) : new Date(now + Number(choice) * DAY_MILLISECONDS);
  return end.toISOString();
}

export function expiryOf({ expires_at: at }: AccessToken, now: number): "never" | "later" | "soon" | "expired" {
  if (at === null) return "never";
  const left = Date.parse(at) - now;
  if (left <= 0) return "expired";
  return left <= SOON_MILLISECONDS ? "soon" : "later";
}
