/** The recorded results of flags, with their reasons. */

import type { Evaluation } from "../../api/history";
import { t } from "../../texts";
import { people as texts } from "../../texts/people";
import { Answer } from "../history/Answer";
import classes from "./People.module.css";
import { outcomeInWords } from "./Said";

interface Props {
  readonly outcomes: readonly (readonly [key: string, outcome: Evaluation["flags"][string]])[];
  readonly caption: string;
}

export function OutcomeTable({ outcomes, caption }: Props) {
  if (outcomes.length === 0) return <p className={classes.none}>{texts.noResult}</p>;
  return (
    <table className={classes.answers}>
      <caption className={classes.none}>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.flag}</th>
          <th scope="col">{t.history.what}</th>
          <th scope="col">{t.history.why}</th>
        </tr>
      </thead>
      <tbody>
        {outcomes.map(([key, outcome]) => (
          <tr key={key}>
            <th scope="row" className="mono">
              {key}
            </th>
            <td data-environment={t.history.what}>
              <Answer on={outcome.enabled} />
            </td>
            <td data-environment={t.history.why}>{outcomeInWords(outcome)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
