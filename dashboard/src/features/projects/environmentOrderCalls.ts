/** The order of a project's environments. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type Environment } from "../../api/client";
import { ask } from "../../api/problem";
import { projectInFullQuery } from "../../api/projects";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import { outdate } from "../../api/queryKeys";

const ORDER = "/api/projects/{project_id}/environments/order";

interface NewOrder {
  /** The environments in the order that was shown before. */
  readonly shown: readonly Environment[];
  readonly ordered: readonly Environment[];
}

/** Puts the environments in another order, which is shown at once. Orders are sent one after another. */
export function useOrderEnvironments(projectId: string) {
  const cache = useQueryClient();
  const { queryKey } = projectInFullQuery(projectId);
  return useMutation({
    scope: { id: `order of ${projectId}` },
    mutationFn: ({ shown, ordered }: NewOrder) => {
      const params = { path: { project_id: projectId } };
      const body = bodyOf(ordered);
      return saveShown(
        () => client.GET(ORDER, { params }),
        bodyOf(shown),
        body,
        (tag) => ask(client.PUT(ORDER, { params, body, ...ifMatch(tag) })),
      );
    },
    onMutate: ({ ordered }) =>
      void cache.setQueryData(queryKey, (known) => known && { ...known, environments: [...ordered] }),
    onSettled: () => outdate(cache, { queryKey }),
  });
}

function bodyOf(environments: readonly Environment[]) {
  return { environment_ids: environments.map(({ id }) => id) };
}
