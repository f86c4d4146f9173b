/** The requests of a project's home, besides those that other pages make. */

import { CLEANUP } from "../cleanup/cleanupCalls";
import type { EnvironmentPath } from "../../api/client";
import { read } from "../../api/reads";

const FRESH_MILLISECONDS = 15 * 60_000;

/** The newest changes in a project, in one part. */
export function newestChangesQuery(projectId: string) {
  return read("/api/projects/{project_id}/changes", { project_id: projectId }, { limit: 50 });
}

/** The first candidates for removal. The server examines flags for them, so they are not requested on every visit. */
export function staleFlagsQuery(path: EnvironmentPath) {
  return { ...read(CLEANUP, path, { limit: 25 }), staleTime: FRESH_MILLISECONDS };
}
