/** The audit trail of changes to an environment, its flags and their rules. */

import { infiniteQueryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type Change = components["schemas"]["ChangeOut"];

export function changesQuery(path: EnvironmentPath, flagId?: string) {
  return infiniteQueryOptions({
    queryKey: ["changes", path.env_id, flagId ?? null],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 50,
        ...(flagId !== undefined && { flag_id: flagId }),
        ...(pageParam && { cursor: pageParam }),
      };
      return ask(
        client.GET("/api/projects/{project_id}/environments/{env_id}/changes", { params: { path, query }, signal }),
      );
    },
    getNextPageParam: (page) => page.next_cursor,
  });
}
