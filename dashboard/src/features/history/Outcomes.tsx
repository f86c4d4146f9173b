/** The results of one evaluation, which are loaded when they are shown: 50 evaluations of 5,000 flags have 250,000. */

import { useQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { evaluationQuery } from "./historyCalls";
import { historyTexts } from "./historyTexts";
import { AnchorLink } from "../../ui/links";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { Answer } from "../../ui/Answer";
import classes from "./History.module.css";

const SHOWN_AT_ONCE = 100;

export function Outcomes({ path, evaluationId }: { path: EnvironmentPath; evaluationId: string }) {
  const { data, error, refetch } = useQuery(evaluationQuery(path, evaluationId));
  if (error && !data) return <LoadFailed error={error} onRetry={() => void refetch()} />;
  if (!data) return <RowsSkeleton rows={3} height={20} />;
  const byKey = Object.entries(data.flags).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <>
      <div className={classes.answers}>
        {byKey.slice(0, SHOWN_AT_ONCE).map(([key, outcome]) => [
          <code key={key} className="mono">
            {key}
          </code>,
          <Answer key={`${key} answer`} on={outcome.enabled} />,
          <span key={`${key} reason`}>{outcome.reason + variantOf(outcome)}</span>,
        ])}
      </div>
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId/evaluations/$evaluationId"
        params={{ projectId: path.project_id, environmentId: path.env_id, evaluationId }}
        fz="sm"
      >
        {historyTexts.evaluation(byKey.length, SHOWN_AT_ONCE)}
      </AnchorLink>
    </>
  );
}

export function variantOf({ variant }: { readonly variant?: string | null }): string {
  return variant == null ? "" : `, ${historyTexts.variant(variant)}`;
}
