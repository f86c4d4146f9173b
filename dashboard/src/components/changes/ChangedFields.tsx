/** Fields with their values before and after a change. */

import { VisuallyHidden } from "@mantine/core";
import type { FieldChange } from "../../lib/changes";
import { changes as changeTexts } from "../../texts/changes";
import classes from "./ChangeRows.module.css";

export function ChangedFields({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <dl className={classes.fields}>
      {fields.map(({ field, before, after }) => (
        <div key={field} className={classes.field}>
          <dt>{changeTexts.fields[field] ?? field}</dt>
          <dd>
            {before !== null && (
              <del>
                <VisuallyHidden>{changeTexts.before} </VisuallyHidden>
                {before}
              </del>
            )}
            {before !== null && after !== null && <span aria-hidden> → </span>}
            {after !== null && (
              <ins>
                <VisuallyHidden>{changeTexts.after} </VisuallyHidden>
                {after}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
