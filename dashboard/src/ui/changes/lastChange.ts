/** Who changed a resource last. */

import { queryOptions } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { State } from "../../api/states";
import { keyOf } from "../../api/queryKeys";

const CHANGES = "/api/projects/{project_id}/changes";
const RECENT = 20;

/**
 * The email of the person who made a state of a resource; null if the account may not see it, or if it is too long ago.
 */
export function lastChangeQuery(projectId: string, resourceId: string, { tag, by }: State) {
  return queryOptions({
    queryKey: keyOf(CHANGES, { project_id: projectId }, "last", resourceId, tag),
    queryFn: async ({ signal }) => {
      const params = { path: { project_id: projectId }, query: { limit: RECENT } };
      const { items } = await ask(client.GET(CHANGES, { params, signal }));
      return items.find((each) => each.resource_id === resourceId)?.actor.email ?? null;
    },
    enabled: by === null,
    retry: false,
  });
}
