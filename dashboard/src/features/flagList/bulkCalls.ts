/** The same change to many flags of an environment. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";

export type BulkBody = components["schemas"]["BulkBody"];
export type BulkAction = BulkBody["action"];

export function useChangeFlags(path: EnvironmentPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: BulkBody) =>
      ask(client.POST("/api/projects/{project_id}/environments/{env_id}/bulk-actions", { params: { path }, body })),
    onSuccess: () => cache.invalidateQueries(), // lists, single flags, changes and what is archived
  });
}
