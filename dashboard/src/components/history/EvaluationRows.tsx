/** Evaluations of an environment or of one flag, as rows. */

import { VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import type { EnvironmentPath } from "../../api/client";
import type { Evaluation, FlagEvaluation } from "../../api/history";
import { inFull, timeOfDay } from "../../lib/time";
import { t } from "../../texts";
import { Answer } from "./Answer";
import { Attributes } from "./Attributes";
import classes from "./History.module.css";
import { Outcomes, variantOf } from "./Outcomes";
import { useNow } from "../shared/When";

type Call = Pick<Evaluation, "evaluated_at" | "user_id" | "user_email" | "attributes">;

export function FlagEvaluationRows({ items }: { items: readonly FlagEvaluation[] }) {
  return (
    <table className={classes.table}>
      <Head columns={[t.history.when, t.history.who, t.history.what, t.history.why]} />
      <tbody>
        {items.map((each) => (
          <tr key={each.id}>
            <Moment call={each} />
            <Who call={each} />
            <td className={classes.answer}>
              <Answer on={each.enabled} />
            </td>
            <td className={classes.why}>{each.reason + variantOf(each)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Props {
  readonly path: EnvironmentPath;
  readonly items: readonly Evaluation[];
  readonly flagKey: string;
}

/** For one flag, the row shows its result; otherwise it shows the counts. The results of all flags are loaded on demand. */
export function EvaluationRows({ path, items, flagKey }: Props) {
  return (
    <table className={classes.table}>
      <Head columns={[t.history.when, t.history.who, t.history.whatAndWhy]} />
      <tbody>
        {items.map((each) => (
          <tr key={each.id}>
            <Moment call={each} />
            <Who call={each} />
            <td className={classes.all}>
              <Answers path={path} evaluation={each} flagKey={flagKey} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Answers({ path, evaluation, flagKey }: { path: EnvironmentPath; evaluation: Evaluation; flagKey: string }) {
  const [opened, setOpened] = useState(false);
  const wanted = flagKey && Object.hasOwn(evaluation.flags, flagKey) ? evaluation.flags[flagKey] : undefined;
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary className={classes.summary}>
        {wanted ? (
          <>
            <Answer on={wanted.enabled} /> · {wanted.reason + variantOf(wanted)}
          </>
        ) : (
          t.history.counts(evaluation.on ?? 0, evaluation.off ?? 0)
        )}
        <VisuallyHidden>. {t.history.showFlags}</VisuallyHidden>
      </summary>
      {opened && <Outcomes path={path} evaluationId={evaluation.id} />}
    </details>
  );
}

function Moment({ call }: { call: Call }) {
  return (
    <td className={classes.when}>
      <time dateTime={call.evaluated_at} title={inFull(call.evaluated_at)}>
        {timeOfDay(call.evaluated_at, useNow())}
      </time>
    </td>
  );
}

function Who({ call }: { call: Call }) {
  const name = call.user_id ?? call.user_email;
  return (
    <td className={classes.who}>
      {name ?? <span className={classes.anonymous}>{t.history.anonymous}</span>}
      {call.user_id && call.user_email && <small>{call.user_email}</small>}
      <Attributes of={call.attributes} />
    </td>
  );
}

function Head({ columns }: { columns: readonly string[] }) {
  const widths = [classes.when, classes.who, ...(columns.length > 3 ? [classes.answer] : [])];
  return (
    <thead>
      <tr>
        {columns.map((column, index) => (
          <th key={column} scope="col" className={widths[index]}>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}
