/** Reports of applications that evaluate flags themselves, and the flags that are asked for by name. */

import { queryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";

const ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}";
export const REFRESH_MILLISECONDS = 15_000;

export function reportsQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: ["reports", path.env_id],
    queryFn: ({ signal }) => ask(client.GET(`${ENVIRONMENT}/reports`, { params: { path }, signal })),
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

export function usageQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: ["usage", path.env_id],
    queryFn: ({ signal }) => ask(client.GET(`${ENVIRONMENT}/usage`, { params: { path }, signal })),
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
