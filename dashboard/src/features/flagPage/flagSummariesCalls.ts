/** How often a flag was on and off in each environment of its project in the last day. */

import { queryOptions } from "@tanstack/react-query";
import { sinceOf } from "../../ui/charts/periods";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import { keyOf } from "../../api/queryKeys";

const SUMMARY = "/api/projects/{project_id}/flags/{flag_key}/evaluations/summary";
const REFRESH_MILLISECONDS = 60_000;

export function flagSummaryQuery(projectId: string, flagKey: string) {
  const ids = { project_id: projectId, flag_key: flagKey };
  return queryOptions({
    queryKey: keyOf(SUMMARY, ids),
    queryFn: ({ signal }) => {
      const params = { path: ids, query: { since: sinceOf("day", Date.now(), "UTC") } };
      return ask(client.GET(SUMMARY, { params, signal }));
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
