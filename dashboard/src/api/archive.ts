/** Flags that are archived, unarchived and deleted. */

import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath, type Flag, type FlagPath } from "./client";
import { BASE, flagQuery, flagsQuery, refreshChanges } from "./flags";
import { ask } from "./problem";
import { ifMatch, type Tagged } from "./states";

export function archivedFlagsQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: ["archived-flags", path.env_id],
    queryFn: ({ signal }) => ask(client.GET(BASE, { params: { path, query: { archived: true } }, signal })),
  });
}

export function useArchiveFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.POST(`${BASE}/{flag_id}/archive`, { params: { path }, ...ifMatch(tag) })),
    meta: { done: "archived" },
    onSuccess: (flag) => refreshLists(cache, path, flag),
  });
}

export function useUnarchiveFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => ask(client.POST(`${BASE}/{flag_id}/unarchive`, { params: { path } })),
    meta: { done: "unarchived" },
    onSuccess: (flag) => refreshLists(cache, path, flag),
  });
}

export function useDeleteFlag(path: FlagPath, name: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) => ask(client.DELETE(`${BASE}/{flag_id}`, { params: { path }, ...ifMatch(tag) })),
    meta: { done: "deleted", name },
    onSuccess: () => refreshLists(cache, path),
  });
}

/** After a flag has left one of the lists of flags. */
function refreshLists(cache: QueryClient, path: FlagPath, flag?: Flag): Promise<unknown> {
  if (flag) cache.setQueryData(flagQuery(path).queryKey, flag);
  return Promise.all([
    cache.invalidateQueries({ queryKey: flagsQuery(path).queryKey }),
    cache.invalidateQueries({ queryKey: archivedFlagsQuery(path).queryKey }),
    cache.invalidateQueries({ queryKey: ["rules-by-flag", path.env_id] }),
    refreshChanges(cache, path),
  ]);
}
