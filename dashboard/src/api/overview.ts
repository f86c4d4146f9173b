/** The requests of a project's home, besides those that other pages make. */

import { queryOptions } from "@tanstack/react-query";
import { CLEANUP } from "./cleanup";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";

const FRESH_MILLISECONDS = 15 * 60_000;

/** The newest changes in a project, in one part. */
export function newestChangesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["changes", projectId, "newest"],
    queryFn: ({ signal }) => {
      const params = { path: { project_id: projectId }, query: { limit: 50 } };
      return ask(client.GET("/api/projects/{project_id}/changes", { params, signal }));
    },
  });
}

/** The first candidates for removal. The server examines flags for them, so it is not asked on every visit. */
export function staleFlagsQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: [CLEANUP, path.env_id, "first"],
    queryFn: ({ signal }) => {
      const params = { path, query: { limit: 25 } };
      return ask(client.GET("/api/projects/{project_id}/environments/{env_id}/cleanup", { params, signal }));
    },
    staleTime: FRESH_MILLISECONDS,
  });
}
