/** Flags whose results changed for a user between two evaluations: when, from what to what, and what caused it. */

import { useQuery } from "@tanstack/react-query";
import { causeKey, causesQuery } from "./causesCalls";
import type { EnvironmentPath } from "../../api/client";
import type { AnswerChange } from "./peopleCalls";
import { inFull } from "../../ui/time";
import { useGuard } from "../../ui/useGuard";
import { useEnvironments } from "../../ui/useHere";
import { historyTexts } from "../history/historyTexts";
import { common } from "../../ui/commonTexts";
import { people as texts } from "./peopleTexts";
import { AnchorLink } from "../../ui/links";
import { CauseOf } from "./CauseOf";
import classes from "./People.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly items: readonly AnswerChange[];
}

export function AnswerChangeRows({ path, items }: Props) {
  const environment = useEnvironments().find((each) => each.id === path.env_id);
  const maySee = useGuard({ needs: "audit:read", within: environment }).reason === null;
  const { data, isPending, isError } = useQuery({ ...causesQuery(path, items), enabled: maySee });
  return items.map((each) => (
    <li key={`${each.after.evaluation_id} ${each.flag_key}`} className={classes.row}>
      <Change path={path} change={each} />
      {maySee && (
        <CauseOf projectId={path.project_id} found={data?.get(causeKey(each))} isPending={isPending} failed={isError} />
      )}
    </li>
  ));
}

function Change({ path, change: { flag_key: key, before, after } }: { path: EnvironmentPath; change: AnswerChange }) {
  const linked = (point: AnswerChange["after"]) => (
    <AnchorLink
      to="/projects/$projectId/environments/$environmentId/evaluations/$evaluationId"
      params={{ projectId: path.project_id, environmentId: path.env_id, evaluationId: point.evaluation_id }}
      search={{ flag: key }}
      size="sm"
    >
      <time dateTime={point.evaluated_at}>{inFull(point.evaluated_at)}</time>
    </AnchorLink>
  );
  return (
    <>
      <span>
        <strong className="mono">{key}</strong> {texts.fromTo(answerOf(before), answerOf(after))}
      </span>
      <span>
        {linked(after)} · {after.outcome.reason}
      </span>
      <small>
        {texts.before} {linked(before)} · {before.outcome.reason}
      </small>
    </>
  );
}

function answerOf({ outcome: { enabled, variant } }: AnswerChange["after"]): string {
  return [enabled ? common.on : common.off, variant != null && historyTexts.variant(variant)]
    .filter(Boolean)
    .join(", ");
}
