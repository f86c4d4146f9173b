/** Changes in words, each with its values before and after; those that one operation made together are one entry. */

import type { Change } from "../../api/changes";
import { entriesOf } from "./changeEntries";
import { ChangeBatch } from "./ChangeBatch";
import { ChangeRow, type ChangeRowProps } from "./ChangeRow";
import classes from "../../ui/changes/ChangeRows.module.css";

type Props = Omit<ChangeRowProps, "change"> & { readonly items: readonly Change[] };

export function ChangeRows({ items, ...rows }: Props) {
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
