/** Fields with their values before and after a change. */

import { VisuallyHidden } from "@mantine/core";
import type { ValueChange } from "./changedValues";
import type { FieldChange } from "./changes";
import { changes as changeTexts } from "./changesTexts";
import classes from "./ChangeRows.module.css";
import { Given } from "../Given";

const VALUES_SHOWN = 20;

export function ChangedFields({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <dl className={classes.fields}>
      {fields.map(({ field, before, after, values }) => (
        <div key={field} className={classes.field}>
          <dt>{changeTexts.fields[field] ?? field}</dt>
          {values ? (
            values.map((each) => <ChangedValues key={each.condition} {...each} />)
          ) : (
            <dd>
              {before !== null && <Before text={before} />}
              {before !== null && after !== null && <span aria-hidden> → </span>}
              {after !== null && <After text={after} />}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

function ChangedValues({ condition, removed, added }: ValueChange) {
  return (
    <dd>
      {condition}: {removed.length > 0 && <Before label={changeTexts.removed} text={listed(removed)} />}
      {removed.length > 0 && added.length > 0 && " "}
      {added.length > 0 && <After label={changeTexts.added} text={listed(added)} />}
    </dd>
  );
}

function Before({ text, label = changeTexts.before }: { text: string; label?: string }) {
  return (
    <del>
      <VisuallyHidden>{label} </VisuallyHidden>
      <Given text={text} />
    </del>
  );
}

function After({ text, label = changeTexts.after }: { text: string; label?: string }) {
  return (
    <ins>
      <VisuallyHidden>{label} </VisuallyHidden>
      <Given text={text} />
    </ins>
  );
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, VALUES_SHOWN).join(", ");
  return values.length > VALUES_SHOWN ? changeTexts.andMore(shown, values.length - VALUES_SHOWN) : shown;
}
