/** The reads whose results depend on changes: the audit trail, and how far a change has been propagated. */

import type { QueryClient } from "@tanstack/react-query";
import type { EnvironmentPath } from "./client";
import { allOf, outdate } from "./queryKeys";

const ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}";
const OF_ENVIRONMENT = [
  `${ENVIRONMENT}/changes`,
  `${ENVIRONMENT}/changes/summary`,
  `${ENVIRONMENT}/connections`,
  // Those of rules and of other flags count as well.
  `${ENVIRONMENT}/flags/{flag_id}/sdk-differences`,
] as const;
/** Everywhere. */
export const CHANGES = [
  ...OF_ENVIRONMENT,
  "/api/projects/{project_id}/changes",
  "/api/admin/changes",
  "/api/me/changes",
] as const;

/** After a change in an environment. */
export function outdateChanges(cache: QueryClient, { project_id, env_id }: EnvironmentPath): Promise<unknown> {
  return outdate(cache, ...allOf(OF_ENVIRONMENT, { project_id, env_id }));
}
