/** Reports of applications that evaluate flags themselves, and the flags that they request by name. */

import type { EnvironmentPath } from "../../api/client";
import { read } from "../../api/reads";

const ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}";
export const REFRESH_MILLISECONDS = 15_000;

export function reportsQuery(path: EnvironmentPath) {
  return { ...read(`${ENVIRONMENT}/reports`, path), refetchInterval: REFRESH_MILLISECONDS };
}

export function usageQuery(path: EnvironmentPath) {
  return { ...read(`${ENVIRONMENT}/usage`, path), refetchInterval: REFRESH_MILLISECONDS };
}
