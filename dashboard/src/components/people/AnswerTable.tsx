/** Flags by environments: a user's result in each, with the reason. */

import { Link } from "@tanstack/react-router";
import type { Environment } from "../../api/client";
import type { AnswerRow, Answers } from "../../lib/person";
import { t } from "../../texts";
import { people as texts } from "../../texts/people";
import { Answer } from "../history/Answer";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import classes from "./People.module.css";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly rows: readonly AnswerRow[];
}

export function AnswerTable({ projectId, environments, rows }: Props) {
  return (
    // Many environments are wider than the window: the region scrolls, also with the keyboard.
    <div className={classes.scroll} role="region" aria-label={texts.nowTable} tabIndex={0}>
      <table className={classes.answers}>
        <thead>
          <tr>
            <th scope="col">{texts.flag}</th>
            {environments.map((each) => (
              <th key={each.id} scope="col">
                <EnvironmentBadge environment={each} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, answers }) => (
            <tr key={key}>
              <th scope="row" className="mono">
                {key}
              </th>
              {environments.map((each, place) => (
                <Cell key={each.id} projectId={projectId} environment={each} answer={answers[place] ?? null} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  readonly projectId: string;
  readonly environment: Environment;
  readonly answer: Answers["items"][number] | null;
}

function Cell({ projectId, environment, answer }: CellProps) {
  const name = { "data-environment": environment.name };
  if (!answer) {
    return (
      <td {...name}>
        <span className={classes.none}>{texts.noFlag}</span>
      </td>
    );
  }
  const { flag_key: key, flag_id: flagId, enabled, variant, reason, decided_by: decided } = answer;
  return (
    <td {...name}>
      <Link
        to="/projects/$projectId/environments/$environmentId/flags/$flagId"
        params={{ projectId, environmentId: environment.id, flagId }}
        aria-label={texts.answerOf(key, environment.name, enabled ? t.on : t.off)}
      >
        <Answer on={enabled} />
      </Link>
      {variant !== null && ` ${t.history.variant(variant)}`}
      <small>{decided.rule_name ? `${reason}: ${decided.rule_name}` : reason}</small>
    </td>
  );
}
