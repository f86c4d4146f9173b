/** Predicts what a bulk action changes. The server decides. */

import { RESTORED_MAX } from "../audit/restorable";
import type { BulkAction } from "./bulkCalls";
import type { Flag } from "../../api/client";
import type { FieldProblem } from "../../api/problem";

export interface Plan {
  readonly changing: readonly Flag[];
  /** The flags that are already in the wanted state. */
  readonly same: readonly Flag[];
}

export function planOf(flags: readonly Flag[], action: BulkAction, tags: readonly string[]): Plan {
  const changing = flags.filter((flag) => changes(flag, action, tags));
  return { changing, same: flags.filter((flag) => !changing.includes(flag)) };
}

function changes(flag: Flag, action: BulkAction, tags: readonly string[]): boolean {
  switch (action) {
    case "enable":
      return !flag.enabled;
    case "disable":
      return flag.enabled;
    case "add_tags":
      return tags.some((tag) => !flag.tags.includes(tag));
    case "remove_tags":
      return tags.some((tag) => flag.tags.includes(tag));
    case "archive":
      return true;
  }
}

/** The ids that the server refused, which it names by their places among those that were sent. */
export function refusedFlags(fields: readonly FieldProblem[], sent: readonly string[]): string[] {
  return fields.flatMap(({ field }) => sent[Number(/^flags\.(\d+)$/.exec(field)?.[1] ?? -1)] ?? []);
}

/** The changes to restore to undo it; none if they are too many for one call. */
export function undoable(changes: readonly string[]): readonly string[] {
  return changes.length > RESTORED_MAX ? [] : changes;
}
