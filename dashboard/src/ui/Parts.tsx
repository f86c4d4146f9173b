/** Renders a sentence with its values; long lists of values are folded. */

import { Fragment } from "react";
import type { Part } from "./conditions/conditions";
import { conditionsTexts } from "./conditions/conditionsTexts";
import classes from "./Parts.module.css";

export function Parts({ parts }: { parts: readonly Part[] }) {
  // A sentence has no other identity than the order of its parts.
  return parts.map((part, index) => <Fragment key={index}>{rendered(part)}</Fragment>);
}

function rendered(part: Part) {
  if ("words" in part) return part.words;
  if ("value" in part) return <code className={classes.value}>{part.value}</code>;
  const { values, total } = part;
  if (total === 0) return conditionsTexts.values(0);
  return (
    <details className={classes.fold}>
      <summary className={classes.summary}>{conditionsTexts.values(total)}</summary>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <section className={classes.values} tabIndex={0} aria-label={conditionsTexts.values(total)}>
        {values.join("\n")}
        {total > values.length && `\n${conditionsTexts.moreValues(total - values.length)}`}
      </section>
    </details>
  );
}
