/** The newest evidence that something uses a flag: an evaluation here, or an application that evaluates it itself. */

import { queryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath, type FlagPath } from "../../api/client";
import { ask } from "../../api/problem";
import { read } from "../../api/reads";
import { keyOf } from "../../api/queryKeys";

const ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}";
const REPORTS = `${ENVIRONMENT}/flags/{flag_id}/reports` as const;
export const EVIDENCE_MILLISECONDS = 3_000;

/** The newest evaluation of the flag, or null. */
export function newestEvaluationQuery(path: FlagPath) {
  return queryOptions({
    ...read(`${ENVIRONMENT}/flags/{flag_id}/evaluations`, path, { limit: 1 }),
    select: ({ items }) => items[0] ?? null,
  });
}

/** The newest evaluation in the environment, or null if there is none yet. */
export function firstEvaluationQuery(path: EnvironmentPath) {
  return queryOptions({
    ...read(`${ENVIRONMENT}/evaluations`, path, { limit: 1 }),
    select: ({ items }) => items[0] ?? null,
  });
}

/**
 * Reports of applications that evaluate the flag themselves: which have fetched it, and how often it was on and off.
 */
export function localEvidenceQuery(path: FlagPath) {
  return queryOptions({
    queryKey: keyOf(REPORTS, path),
    queryFn: async ({ signal }) => {
      const [{ connections }, { hours }] = await Promise.all([
        ask(client.GET(`${ENVIRONMENT}/connections`, { params: { path }, signal })),
        ask(client.GET(REPORTS, { params: { path }, signal })),
      ]);
      return { connections, hours };
    },
  });
}
