/** Saved views of a project: filters of the flag list with a name. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type View = components["schemas"]["ViewOut"];
export type ViewUpdate = components["schemas"]["ViewUpdate"];

const BASE = "/api/projects/{project_id}/views";

export function viewsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["views", projectId],
    queryFn: ({ signal }) => ask(client.GET(BASE, { params: { path: { project_id: projectId } }, signal })),
  });
}

/** Saves a new view, or what is given of one that has an id. */
export function useSaveView(projectId: string) {
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: ({ id, name, search }: { id?: string; name: string; search: View["search"] }) => {
      const path = { project_id: projectId };
      return id === undefined
        ? ask(client.POST(BASE, { params: { path }, body: { name, search } }))
        : ask(client.PUT(`${BASE}/{view_id}`, { params: { path: { ...path, view_id: id } }, body: { name, search } }));
    },
    onSuccess: refresh,
  });
}

export function useDeleteView(projectId: string) {
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: (id: string) =>
      ask(client.DELETE(`${BASE}/{view_id}`, { params: { path: { project_id: projectId, view_id: id } } })),
    onSuccess: refresh,
  });
}

function useRefresh(projectId: string) {
  const cache = useQueryClient();
  return () => cache.invalidateQueries({ queryKey: viewsQuery(projectId).queryKey });
}
