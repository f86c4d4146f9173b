/** Who asks for flags in an environment, how often, and when last. */

import { queryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type Caller = components["schemas"]["CallerOut"];

export const CALLERS_REFRESH_MILLISECONDS = 5_000;
const DAY_MILLISECONDS = 86_400_000;

/** Those of the last 30 days. */
export function callersQuery({ project_id, env_id }: EnvironmentPath) {
  return queryOptions({
    queryKey: ["callers", env_id],
    queryFn: ({ signal }) => listCallers({ project_id, env_id }, {}, signal),
    refetchInterval: CALLERS_REFRESH_MILLISECONDS,
  });
}

/** Those that have used an SDK key in the last 24 hours. */
export function keyCallersQuery({ project_id, env_id }: EnvironmentPath, keyId: string) {
  return queryOptions({
    queryKey: ["callers", env_id, keyId],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - DAY_MILLISECONDS).toISOString();
      return listCallers({ project_id, env_id }, { sdk_key_id: keyId, since }, signal);
    },
    refetchInterval: CALLERS_REFRESH_MILLISECONDS,
    retry: false,
  });
}

function listCallers(path: EnvironmentPath, query: { sdk_key_id?: string; since?: string }, signal: AbortSignal) {
  return ask(
    client.GET("/api/projects/{project_id}/environments/{env_id}/callers", { params: { path, query }, signal }),
  );
}
