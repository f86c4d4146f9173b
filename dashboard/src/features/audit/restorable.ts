/** Finds the changes that can be put back, and the permission for that. */

import type { Change } from "../../api/changes";
import type { Permission } from "../../api/members";

/** The most changes that are put back together. */
export const RESTORED_MAX = 100;

const NEEDS: Readonly<Record<string, Permission>> = {
  flag: "flags:write",
  rule: "rules:write",
  segment: "segments:write",
};

/** The permission that is required to put back a change; null if it cannot be put back. */
export function restoreNeeds({ action }: Pick<Change, "action">): Permission | null {
  const [kind = ""] = action.split(".");
  return NEEDS[kind] ?? null;
}

/** Whether putting a change back deletes what it has created. */
export function isCreation({ action }: Pick<Change, "action">): boolean {
  return action.endsWith(".created");
}
