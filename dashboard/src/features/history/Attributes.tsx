/** The custom attributes that were recorded with an evaluation; folded if they are long. */

import type { Evaluation } from "./historyCalls";
import { membersOf, textOf } from "../../api/json";
import { historyTexts } from "./historyTexts";
import classes from "./History.module.css";
import { Given } from "../../ui/Given";

const LONGEST = 80;

export function Attributes({ of }: { of: Evaluation["attributes"] }) {
  const pairs = membersOf(of ?? {}).map(([name, value]) => `${name}: ${textOf(value)}`);
  if (pairs.length === 0) return null;
  const line = pairs.join(", ");
  if (line.length <= LONGEST)
    return (
      <small title={historyTexts.attributesRecorded}>
        <Given text={line} />
      </small>
    );
  return (
    <details className={classes.attributes}>
      <summary className={classes.summary}>{historyTexts.attributes(pairs.length)}</summary>
      <ul aria-label={historyTexts.attributesRecorded}>
        {pairs.map((pair) => (
          <li key={pair}>
            <Given text={pair} />
          </li>
        ))}
      </ul>
    </details>
  );
}
