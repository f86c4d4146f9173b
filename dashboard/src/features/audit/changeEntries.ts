/** The entries of a list of changes: a single one, or those that one operation made together. */

import type { Change } from "../../api/changes";
import type { Batch } from "./changeBatches";

export interface Entry {
  readonly key: string;
  readonly changes: readonly [Change, ...Change[]];
  /** The operation; null for a change that is shown alone, as in the history of its flag. */
  readonly batch: Batch | null;
}

/** Changes of an operation follow one another. If a filter leaves out all but one, that change is shown alone. */
export function entriesOf(changes: readonly Change[]): readonly Entry[] {
  const found: { changes: [Change, ...Change[]] }[] = [];
  for (const each of changes) {
    const last = found.at(-1);
    if (last && each.batch && last.changes[0].batch?.id === each.batch.id) last.changes.push(each);
    else found.push({ changes: [each] });
  }
  return found.map((each) => ({
    key: each.changes[0].id,
    changes: each.changes,
    batch: each.changes.length > 1 ? (each.changes[0].batch ?? null) : null,
  }));
}
