/** Which changes of the audit trail have not been seen yet, and what they concern. */

import type { Change } from "../api/changes";

/** The changes before the one that was known, newest first; null if it is not among them, so that others may be missing. */
export function newOnes(changes: readonly Change[], known: string): readonly Change[] | null {
  const at = changes.findIndex((each) => each.id === known);
  return at < 0 ? null : changes.slice(0, at);
}

export interface Concerned {
  /** Whether flags have come or gone, so that lists of flags are others. */
  readonly lists: boolean;
  /** The ids of flags that are still there, but have other values. */
  readonly flags: readonly string[];
  /** The ids of flags with other rules. */
  readonly rules: readonly string[];
  readonly environment: boolean;
}

const OF_LISTS = ["flag.created", "flag.deleted", "flag.archived", "flag.unarchived"];

export function concernedBy(changes: readonly Change[]): Concerned {
  const deleted = new Set(changes.filter((each) => each.action === "flag.deleted").map((each) => each.flag_id));
  const idsOf = (matching: (change: Change) => boolean) => [
    ...new Set(
      changes.filter((each) => matching(each) && !deleted.has(each.flag_id)).flatMap((each) => each.flag_id ?? []),
    ),
  ];
  return {
    lists: changes.some((each) => OF_LISTS.includes(each.action)),
    flags: idsOf((each) => each.action.startsWith("flag.")),
    rules: idsOf((each) => each.action.startsWith("rule.")),
    environment: changes.some((each) => each.flag_id === null),
  };
}
