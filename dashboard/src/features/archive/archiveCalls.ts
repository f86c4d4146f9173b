/** Flags that are archived, unarchived and deleted. */

import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath, type Flag, type FlagPath } from "../../api/client";
import { FLAG, FLAGS, refreshChanges } from "../flags/flagCache";
import { flagQuery } from "../flags/flagsCalls";
import { ask } from "../../api/problem";
import { ifMatch, type Tagged } from "../../api/states";
import { BY_FLAG } from "../flags/rulesCalls";
import { allOf, outdate } from "../../api/queryKeys";
import { read } from "../../api/reads";

export function archivedFlagsQuery(path: EnvironmentPath) {
  return read(FLAGS, path, { archived: true });
}

export function useArchiveFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) => ask(client.POST(`${FLAG}/archive`, { params: { path }, ...ifMatch(tag) })),
    meta: { done: "archived" },
    onSuccess: (flag) => refreshLists(cache, path, flag),
  });
}

export function useUnarchiveFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => ask(client.POST(`${FLAG}/unarchive`, { params: { path } })),
    meta: { done: "unarchived" },
    onSuccess: (flag) => refreshLists(cache, path, flag),
  });
}

export function useDeleteFlag(path: FlagPath, name: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) => ask(client.DELETE(FLAG, { params: { path }, ...ifMatch(tag) })),
    meta: { done: "deleted", name },
    onSuccess: () => refreshLists(cache, path),
  });
}

/** After a flag has left one of the lists of flags. */
function refreshLists(cache: QueryClient, path: FlagPath, flag?: Flag): Promise<unknown> {
  if (flag) cache.setQueryData(flagQuery(path).queryKey, flag);
  return Promise.all([outdate(cache, ...allOf([FLAGS, BY_FLAG], path)), refreshChanges(cache, path)]);
}
