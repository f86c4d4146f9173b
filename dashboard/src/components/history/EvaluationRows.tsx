/** Evaluations of an environment or of one flag, as rows. */

import { VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import type { Evaluation, FlagEvaluation } from "../../api/history";
import { inFull, timeOfDay } from "../../lib/time";
import { t } from "../../texts";
import { Answer } from "./Answer";
import { Attributes } from "./Attributes";
import classes from "./History.module.css";
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

/** For one flag, the row shows its result; otherwise it shows the counts, and all results on demand. */
export function EvaluationRows({ items, flagKey }: { items: readonly Evaluation[]; flagKey: string }) {
  return (
    <table className={classes.table}>
      <Head columns={[t.history.when, t.history.who, t.history.whatAndWhy]} />
      <tbody>
        {items.map((each) => (
          <tr key={each.id}>
            <Moment call={each} />
            <Who call={each} />
            <td className={classes.all}>
              <Answers evaluation={each} flagKey={flagKey} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The results of all flags exist only while they are shown: 50 evaluations of 5,000 flags are 250,000 of them. */
function Answers({ evaluation, flagKey }: { evaluation: Evaluation; flagKey: string }) {
  const [opened, setOpened] = useState(false);
  const outcomes = Object.values(evaluation.flags);
  const wanted = flagKey && Object.hasOwn(evaluation.flags, flagKey) ? evaluation.flags[flagKey] : undefined;
  const on = outcomes.filter(({ enabled }) => enabled).length;
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary className={classes.summary}>
        {wanted ? (
          <>
            <Answer on={wanted.enabled} /> · {wanted.reason + variantOf(wanted)}
          </>
        ) : (
          t.history.counts(on, outcomes.length - on)
        )}
        <VisuallyHidden>. {t.history.showFlags}</VisuallyHidden>
      </summary>
      {opened && <Outcomes of={evaluation} />}
    </details>
  );
}

function Outcomes({ of: { flags } }: { of: Evaluation }) {
  const byKey = Object.entries(flags).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <div className={classes.answers}>
      {byKey.map(([key, outcome]) => [
        <code key={key} className="mono">
          {key}
        </code>,
        <Answer key={`${key} answer`} on={outcome.enabled} />,
        <span key={`${key} reason`}>{outcome.reason + variantOf(outcome)}</span>,
      ])}
    </div>
  );
}

function variantOf({ variant }: { readonly variant?: string | null }): string {
  return variant == null ? "" : `, ${t.history.variant(variant)}`;
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
