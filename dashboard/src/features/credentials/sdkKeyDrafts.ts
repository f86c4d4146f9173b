/** SDK keys as they are created, and where an account may manage them. */

import type { Environment } from "../../api/client";
import type { OwnPermissions, Permission } from "../../api/members";
import type { NewSdkKey, SdkKey } from "./sdkKeysCalls";
import { type ExpiryDraft, likeExpiryOf, momentOf } from "./expiry";
import { reasonAgainst } from "../../ui/roles";

export interface SdkKeyDraft extends ExpiryDraft {
  readonly name: string;
  /** The environment's key. */
  readonly environment: string;
  readonly kind: NewSdkKey["kind"];
  /** Of a browser's key; they are kept while another kind is chosen. */
  readonly allowed_origins: readonly string[];
}

export function sdkKeyOf({ name, environment, kind, allowed_origins, ...expiry }: SdkKeyDraft, now: number): NewSdkKey {
  const origins = kind === "browser" ? [...allowed_origins] : [];
  return { name, environment, kind, expires_at: momentOf(expiry, now), allowed_origins: origins };
}

/** The key of the draft of the form that edits a key. */
export const draftOfSdkKey = ({ id }: SdkKey) => `SDK key ${id}`;

export type RotationDraft = Pick<SdkKeyDraft, "name" | "expires_at" | "date">;

/** A key like this one, with the same lifetime. */
export function rotationOf(key: SdkKey): RotationDraft {
  return { name: key.name, ...likeExpiryOf(key) };
}

/** A key that replaces another one, for the same pages. */
export function rotatedKeyOf(old: SdkKey, { name, ...expiry }: RotationDraft, now: number): NewSdkKey {
  const { environment, kind, allowed_origins, id } = old;
  return { name, environment, kind, expires_at: momentOf(expiry, now), replaces: id, allowed_origins };
}

/** The environments in which an account has a permission; all while that is not known yet. */
export function environmentsWith(
  own: OwnPermissions | undefined,
  permission: Permission,
  environments: readonly Environment[],
): readonly Environment[] {
  return environments.filter((each) => reasonAgainst(own, permission, each) === null);
}
