/** Changes in words, each with its values before and after. */

import type { Change } from "../api/changes";
import { fieldChanges, subjectOf, verbOf } from "../lib/changes";
import { inFull } from "../lib/time";
import { t } from "../texts";
import classes from "./ChangeRows.module.css";
import { When } from "./When";

export function ChangeRows({ items }: { items: readonly Change[] }) {
  return (
    <ol className={classes.list}>
      {items.map((each) => (
        <ChangeRow key={each.id} change={each} />
      ))}
    </ol>
  );
}

function ChangeRow({ change }: { change: Change }) {
  const fields = fieldChanges(change);
  return (
    <li className={classes.change}>
      <div className={classes.sentence}>
        <span>
          <span className={classes.who}>{change.actor.email ?? t.changes.commandLine}</span> {verbOf(change)}{" "}
          <span className={classes.what}>{subjectOf(change)}</span>
        </span>
        <span className={classes.when} title={inFull(change.at)}>
          <When at={change.at} />
        </span>
      </div>
      {fields.length > 0 && (
        <dl className={classes.fields}>
          {fields.map(({ field, before, after }) => (
            <div key={field} className={classes.field}>
              <dt>{t.changes.fields[field] ?? field}</dt>
              <dd>
                {before !== null && <del title={t.changes.before}>{before}</del>}
                {before !== null && after !== null && <span aria-hidden> → </span>}
                {after !== null && <ins title={t.changes.after}>{after}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
