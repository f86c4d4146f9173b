/** Changes in words, each with its values before and after; those that one operation made together are one entry. */

import type { ReactNode } from "react";
import type { Change } from "../../api/changes";
import { entriesOf } from "./changeEntries";
import { ChangeBatch } from "./ChangeBatch";
import { ChangeRow } from "./ChangeRow";
import classes from "./ChangeRows.module.css";

export interface ChangeRowsProps {
  readonly items: readonly Change[];
  /** By the flags' ids. */
  readonly flagNames: ReadonlyMap<string, string>;
  /** The project in which the changes can be put back; without one, they cannot. */
  readonly projectId?: string;
  /** Whether times are exact, instead of as people say them. */
  readonly exact?: boolean;
  /** The name of what was changed, as a link. */
  readonly linked?: (change: Change, name: string) => ReactNode;
  /** The ids of changes that are chosen, and what chooses one; without it, none can be chosen. */
  readonly chosen?: ReadonlySet<string>;
  readonly onChoose?: ((id: string, wanted: boolean) => void) | undefined;
}

export function ChangeRows({ items, ...rows }: ChangeRowsProps) {
  return (
    <ol className={classes.list}>
      {entriesOf(items).map(({ key, changes, batch }) =>
        batch ? (
          <ChangeBatch key={key} batch={batch} changes={changes} {...rows} />
        ) : (
          <ChangeRow key={key} change={changes[0]} {...rows} />
        ),
      )}
    </ol>
  );
}
