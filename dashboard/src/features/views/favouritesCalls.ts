/** The flags that the account wants to see first in a project, by their keys. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import { outdate } from "../../api/queryKeys";
import { read } from "../../api/reads";

const BASE = "/api/projects/{project_id}/favourites";

export function favouritesQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

interface Marking {
  readonly key: string;
  readonly wanted: boolean;
}

/** The new state is shown immediately, and is read again if the server refuses it. */
export function useMarkFavourite(projectId: string, onRefused: (key: string, error: Error) => void) {
  const cache = useQueryClient();
  const { queryKey } = favouritesQuery(projectId);
  return useMutation({
    mutationFn: ({ key, wanted }: Marking) => {
      const params = { path: { project_id: projectId, flag_key: key } };
      return ask(
        wanted ? client.PUT(`${BASE}/{flag_key}`, { params }) : client.DELETE(`${BASE}/{flag_key}`, { params }),
      );
    },
    onMutate: async ({ key, wanted }) => {
      await cache.cancelQueries({ queryKey });
      cache.setQueryData(queryKey, (keys) => [
        ...(keys ?? []).filter((each) => each !== key),
        ...(wanted ? [key] : []),
      ]);
    },
    onError: (error, { key }) => {
      onRefused(key, error);
      return outdate(cache, { queryKey });
    },
  });
}
