/** Evaluations of an environment or of one flag, as rows. */

import { VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import type { EnvironmentPath } from "../../api/client";
import type { Evaluation, FlagEvaluation } from "./historyCalls";
import { inFull, timeOfDay } from "../../ui/time";
import { historyTexts } from "./historyTexts";
import { Answer } from "../../ui/Answer";
import { Attributes } from "./Attributes";
import classes from "./History.module.css";
import { Outcomes, variantOf } from "./Outcomes";
import { type Column, DataTable } from "../../ui/DataTable";
import { useNow } from "../../ui/When";
import { Given } from "../../ui/Given";

type Call = Pick<Evaluation, "evaluated_at" | "user_id" | "user_email" | "attributes">;

const MOMENT: Column<Call> = {
  head: historyTexts.when,
  cell: (call) => <Moment at={call.evaluated_at} />,
  className: classes.when,
};
const WHO: Column<Call> = { head: historyTexts.who, cell: (call) => <Who call={call} />, className: classes.who };

export function FlagEvaluationRows({ items }: { items: readonly FlagEvaluation[] }) {
  return (
    <DataTable
      className={classes.table}
      columns={[
        MOMENT,
        WHO,
        { head: historyTexts.what, cell: ({ enabled }) => <Answer on={enabled} />, className: classes.answer },
        { head: historyTexts.why, cell: (each) => each.reason + variantOf(each), className: classes.why },
      ]}
      rows={items}
      keyOf={({ id }) => id}
      isNamed={false}
    />
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
    <DataTable
      className={classes.table}
      columns={[
        MOMENT,
        WHO,
        {
          head: historyTexts.whatAndWhy,
          cell: (each) => <Answers path={path} evaluation={each} flagKey={flagKey} />,
          className: classes.all,
        },
      ]}
      rows={items}
      keyOf={({ id }) => id}
      isNamed={false}
    />
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
          historyTexts.counts(evaluation.on ?? 0, evaluation.off ?? 0)
        )}
        <VisuallyHidden>. {historyTexts.showFlags}</VisuallyHidden>
      </summary>
      {opened && <Outcomes path={path} evaluationId={evaluation.id} />}
    </details>
  );
}

function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {timeOfDay(at, useNow())}
    </time>
  );
}

function Who({ call }: { call: Call }) {
  const name = call.user_id ?? call.user_email;
  return (
    <>
      {name === null ? <span className={classes.anonymous}>{historyTexts.anonymous}</span> : <Given text={name} />}
      {call.user_id && call.user_email && (
        <small>
          <Given text={call.user_email} />
        </small>
      )}
      <Attributes of={call.attributes} />
    </>
  );
}
