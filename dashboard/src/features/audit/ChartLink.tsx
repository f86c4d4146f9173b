/** Links a change to the chart of evaluations around its time. */

import type { Change } from "../../api/changes";
import { lastEnvironment } from "../../ui/lastEnvironment";
import { useEnvironments } from "../../ui/useHere";
import { markers as texts } from "./markersTexts";
import { AnchorLink } from "../../ui/links";

interface Props {
  readonly projectId: string;
  readonly change: Change;
  /** The change in words. */
  readonly words: string;
}

const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

export function ChartLink({ projectId, change, words }: Props) {
  const environments = useEnvironments();
  const [kind = ""] = change.action.split(".");
  if (kind !== "flag" && kind !== "rule" && kind !== "segment") return null;
  // A segment is in no environment: the chart is that of the environment that was shown last.
  const wanted = kind === "segment" ? lastEnvironment(projectId) : change.environment_id;
  const environment =
    environments.find(({ id }) => id === wanted) ?? (kind === "segment" ? environments[0] : undefined);
  if (!environment) return null;
  const params = { projectId, environmentId: environment.id };
  const link = { size: "xs", "aria-label": texts.chartOf(words) } as const;
  const search = { at: change.at };
  if (kind === "segment" || change.flag_key === null) {
    return (
      <AnchorLink to={`${ENVIRONMENT}/history`} params={params} search={search} {...link}>
        {texts.chart}
      </AnchorLink>
    );
  }
  return (
    // By its key: the flag may have been deleted since.
    <AnchorLink
      to={`${ENVIRONMENT}/flags/by-key/$flagKey`}
      params={{ ...params, flagKey: change.flag_key }}
      search={{ ...search, tab: "history" }}
      {...link}
    >
      {texts.chart}
    </AnchorLink>
  );
}
