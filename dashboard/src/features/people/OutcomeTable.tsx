/** The recorded results of flags, with their reasons. */

import type { Evaluation } from "../history/historyCalls";
import { historyTexts } from "../history/historyTexts";
import { people as texts } from "./peopleTexts";
import { Answer } from "../../ui/Answer";
import { DataTable } from "../../ui/DataTable";
import classes from "./People.module.css";
import { outcomeInWords } from "./RecordedSummary";

interface Props {
  readonly outcomes: readonly (readonly [key: string, outcome: Evaluation["flags"][string]])[];
  readonly caption: string;
}

export function OutcomeTable({ outcomes, caption }: Props) {
  if (outcomes.length === 0) return <p className={classes.none}>{texts.noResult}</p>;
  return (
    <DataTable
      className={classes.answers}
      caption={<caption className={classes.none}>{caption}</caption>}
      columns={[
        { head: texts.flag, cell: ([key]) => key, attributes: () => ({ className: "mono" }) },
        {
          head: historyTexts.what,
          cell: ([, { enabled }]) => <Answer on={enabled} />,
          attributes: () => ({ "data-environment": historyTexts.what }),
        },
        {
          head: historyTexts.why,
          cell: ([, outcome]) => outcomeInWords(outcome),
          attributes: () => ({ "data-environment": historyTexts.why }),
        },
      ]}
      rows={outcomes}
      keyOf={([key]) => key}
    />
  );
}
