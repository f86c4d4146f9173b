/** Who requests flags in an environment, how often, and when they last did. */

import { queryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type Caller = components["schemas"]["CallerOut"];

export const CALLERS_REFRESH_MILLISECONDS = 5_000;
const CALLERS = "/api/projects/{project_id}/environments/{env_id}/callers";
const DAY_MILLISECONDS = 86_400_000;

/** Those of the last 30 days. */
export function callersQuery(path: EnvironmentPath) {
  return { ...read(CALLERS, path), refetchInterval: CALLERS_REFRESH_MILLISECONDS };
}

/** Those that have used an SDK key in the last 24 hours. */
export function keyCallersQuery(path: EnvironmentPath, keyId: string) {
  return queryOptions({
    queryKey: keyOf(CALLERS, path, keyId),
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - DAY_MILLISECONDS).toISOString();
      const query = { sdk_key_id: keyId, since };
      return ask(client.GET(CALLERS, { params: { path, query }, signal }));
    },
    refetchInterval: CALLERS_REFRESH_MILLISECONDS,
    retry: false,
  });
}
