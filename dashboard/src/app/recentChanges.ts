/** Finds new changes in the audit trail, and what they concern. */

import type { Change } from "../api/changes";

/**
 * The changes before the one that was known, newest first; null if it is not among them, so that others may be missing.
 */
export function newOnes(changes: readonly Change[], known: string): readonly Change[] | null {
  const at = changes.findIndex((each) => each.id === known);
  return at < 0 ? null : changes.slice(0, at);
}

export interface OfFlag {
  readonly environmentId: string;
  readonly flagId: string;
}

export interface Concerned {
  /** The environments in which flags were added or removed, so that their lists have changed. */
  readonly lists: readonly string[];
  /** Flags that are still there, but have other values. */
  readonly flags: readonly OfFlag[];
  /** Flags with other rules. */
  readonly rules: readonly OfFlag[];
  /** The keys of flags that differ from before in some environment. */
  readonly keys: readonly string[];
  /** The kinds of resources that are not of a flag, such as `segment`. */
  readonly others: readonly string[];
}

const OF_LISTS = ["flag.created", "flag.deleted", "flag.archived", "flag.unarchived"];

export function concernedBy(changes: readonly Change[]): Concerned {
  const deleted = new Set(changes.filter((each) => each.action === "flag.deleted").map((each) => each.flag_id));
  const flagsOf = (kind: string): OfFlag[] => {
    const found = new Map<string, OfFlag>();
    for (const { action, environment_id: environmentId, flag_id: flagId } of changes) {
      if (kindOf(action) !== kind || environmentId === null || flagId === null || deleted.has(flagId)) continue;
      found.set(flagId, { environmentId, flagId });
    }
    return [...found.values()];
  };
  const listed = changes.filter((each) => OF_LISTS.includes(each.action));
  return {
    lists: distinct(listed.map((each) => each.environment_id)),
    flags: flagsOf("flag"),
    rules: flagsOf("rule"),
    keys: distinct(changes.map((each) => each.flag_key)),
    others: distinct(changes.map((each) => (each.flag_id === null ? kindOf(each.action) : null))),
  };
}

function kindOf(action: string): string {
  return action.slice(0, action.indexOf("."));
}

function distinct(values: readonly (string | null)[]): string[] {
  return [...new Set(values)].filter((each) => each !== null);
}
