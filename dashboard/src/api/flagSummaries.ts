/** How often a flag was on and off in each environment of its project in the last day. */

import { queryOptions } from "@tanstack/react-query";
import { sinceOf } from "../lib/periods";
import { client } from "./client";
import { ask } from "./problem";

const REFRESH_MILLISECONDS = 60_000;

export function flagSummaryQuery(projectId: string, flagKey: string) {
  return queryOptions({
    queryKey: ["flag-summary", projectId, flagKey],
    queryFn: ({ signal }) => {
      const params = {
        path: { project_id: projectId, flag_key: flagKey },
        query: { since: sinceOf("day", Date.now()) },
      };
      return ask(client.GET("/api/projects/{project_id}/flags/{flag_key}/evaluations/summary", { params, signal }));
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
