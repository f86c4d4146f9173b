/** Flags by environments: a user's result in each, with the reason. */

import { Link } from "@tanstack/react-router";
import type { Environment } from "../../api/client";
import type { AnswerRow, Answers } from "./person";
import { historyTexts } from "../history/historyTexts";
import { common } from "../../ui/commonTexts";
import { people as texts } from "./peopleTexts";
import { Answer } from "../../ui/Answer";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import { type Column, DataTable, ScrollRegion } from "../../ui/DataTable";
import classes from "./People.module.css";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly rows: readonly AnswerRow[];
}

export function AnswerTable({ projectId, environments, rows }: Props) {
  const columns = environments.map((environment, place): Column<AnswerRow> => ({
    head: <EnvironmentBadge environment={environment} />,
    cell: ({ answers }) => <Cell projectId={projectId} environment={environment} answer={answers[place] ?? null} />,
    attributes: () => ({ "data-environment": environment.name }),
  }));
  return (
    <ScrollRegion label={texts.nowTable}>
      <DataTable
        className={classes.answers}
        columns={[{ head: texts.flag, cell: ({ key }) => key, attributes: () => ({ className: "mono" }) }, ...columns]}
        rows={rows}
        keyOf={({ key }) => key}
      />
    </ScrollRegion>
  );
}

interface CellProps {
  readonly projectId: string;
  readonly environment: Environment;
  readonly answer: Answers["items"][number] | null;
}

function Cell({ projectId, environment, answer }: CellProps) {
  if (!answer) return <span className={classes.none}>{texts.noFlag}</span>;
  const { flag_key: key, flag_id: flagId, enabled, variant, reason, decided_by: decided } = answer;
  return (
    <>
      <Link
        to="/projects/$projectId/environments/$environmentId/flags/$flagId"
        params={{ projectId, environmentId: environment.id, flagId }}
        aria-label={texts.answerOf(key, environment.name, enabled ? common.on : common.off)}
      >
        <Answer on={enabled} />
      </Link>
      {variant !== null && ` ${historyTexts.variant(variant)}`}
      <small>{decided.rule_name ? `${reason}: ${decided.rule_name}` : reason}</small>
    </>
  );
}
