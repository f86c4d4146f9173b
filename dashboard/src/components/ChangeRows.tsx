/** Changes in words, each with its values before and after. */

import { VisuallyHidden } from "@mantine/core";
import type { Change } from "../api/changes";
import { type FieldChange, fieldChanges, subjectOf, verbOf } from "../lib/changes";
import { t } from "../texts";
import classes from "./ChangeRows.module.css";
import { When } from "./When";

interface Props {
  readonly items: readonly Change[];
  /** By the flags' ids. */
  readonly flagNames: ReadonlyMap<string, string>;
}

export function ChangeRows({ items, flagNames }: Props) {
  return (
    <ol className={classes.list}>
      {items.map((each) => (
        <li key={each.id} className={classes.change}>
          <div className={classes.sentence}>
            <span>
              <span className={classes.who}>{each.actor.email ?? t.changes.commandLine}</span>
              {each.actor.token && t.changes.withToken(each.actor.token.name)} {verbOf(each)}{" "}
              <span className={classes.what}>{subjectOf(each, flagNames)}</span>
            </span>
            <span className={classes.when}>
              <When at={each.at} />
            </span>
          </div>
          <Fields fields={fieldChanges(each)} />
        </li>
      ))}
    </ol>
  );
}

function Fields({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <dl className={classes.fields}>
      {fields.map(({ field, before, after }) => (
        <div key={field} className={classes.field}>
          <dt>{t.changes.fields[field] ?? field}</dt>
          <dd>
            {before !== null && (
              <del>
                <VisuallyHidden>{t.changes.before} </VisuallyHidden>
                {before}
              </del>
            )}
            {before !== null && after !== null && <span aria-hidden> → </span>}
            {after !== null && (
              <ins>
                <VisuallyHidden>{t.changes.after} </VisuallyHidden>
                {after}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
