/** Flags of an environment. Every change updates both the list and the single flag in the cache. */

import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath, type Flag, type FlagPath, type FlagUpdate, type NewFlag } from "./client";
import { ask } from "./problem";

export const BASE = "/api/projects/{project_id}/environments/{env_id}/flags";
const REFRESH_MILLISECONDS = 30_000;

export function flagsQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: ["flags", path.env_id],
    queryFn: ({ signal }) => ask(client.GET(BASE, { params: { path }, signal })),
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

export function flagQuery(path: FlagPath) {
  return queryOptions({
    queryKey: ["flag", path.flag_id],
    queryFn: ({ signal }) => ask(client.GET(`${BASE}/{flag_id}`, { params: { path }, signal })),
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

interface Creation {
  readonly body: NewFlag;
  /** The ids of other environments in which the flag is created as well. */
  readonly alsoIn: readonly string[];
}

/** Creates a flag in an environment and in others, or in none of them; returns that of the environment. */
async function createFlags(path: EnvironmentPath, body: NewFlag, alsoIn: readonly string[]): Promise<Flag> {
  const params = { path: { project_id: path.project_id } };
  const environments = [path.env_id, ...alsoIn];
  const [flag] = await ask(
    client.POST("/api/projects/{project_id}/flags", { params, body: { ...body, environments } }),
  );
  return flag as Flag;
}

export function useCreateFlag(path: EnvironmentPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ body, alsoIn }: Creation) =>
      alsoIn.length > 0 ? createFlags(path, body, alsoIn) : ask(client.POST(BASE, { params: { path }, body })),
    onSuccess: (flag) => {
      cache.setQueryData(flagQuery({ ...path, flag_id: flag.id }).queryKey, flag);
      return cache.invalidateQueries({ queryKey: ["flags"] });
    },
  });
}

export function useUpdateFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: FlagUpdate) => ask(client.PUT(`${BASE}/{flag_id}`, { params: { path }, body })),
    meta: { done: "changed" },
    onSuccess: (flag) => {
      keepFlag(cache, path, flag);
      return refreshChanges(cache, path);
    },
  });
}

interface Switching {
  readonly flag: Flag;
  readonly enabled: boolean;
}

/**
 * Turns flags on and off. The new state is shown immediately, and is reverted if the server refuses it.
 *
 * The call sends the desired state instead of toggling: if two people turn a flag off, it must not end up on. Calls of
 * one environment reach the server in the order in which they were made.
 */
export function useSwitchFlag(path: EnvironmentPath, onRefused: (switching: Switching, error: Error) => void) {
  const cache = useQueryClient();
  const mutationKey = ["switch", path.env_id];
  const isLast = (flag: Flag) =>
    cache
      .getMutationCache()
      .findAll({ mutationKey, status: "pending" })
      .filter((each) => (each.state.variables as Switching).flag.id === flag.id).length <= 1;
  return useMutation({
    mutationKey,
    scope: { id: mutationKey.join(" ") },
    networkMode: "always",
    meta: { done: "switched" },
    mutationFn: ({ flag, enabled }: Switching) =>
      ask(client.PUT(`${BASE}/{flag_id}`, { params: { path: { ...path, flag_id: flag.id } }, body: { enabled } })),
    onMutate: async ({ flag, enabled }) => {
      keepFlag(cache, path, { ...flag, enabled });
      // A list that is still loading may show the earlier state.
      await cache.cancelQueries({ queryKey: flagsQuery(path).queryKey });
      await cache.cancelQueries({ queryKey: ["flag", flag.id] });
    },
    onSuccess: (updated) => {
      if (isLast(updated)) keepFlag(cache, path, updated);
      return refreshChanges(cache, path);
    },
    onError: (error, switching) => {
      if (isLast(switching.flag)) keepFlag(cache, path, { ...switching.flag, enabled: !switching.enabled });
      onRefused(switching, error);
      void cache.invalidateQueries({ queryKey: flagsQuery(path).queryKey });
    },
  });
}

export function keepFlag(cache: QueryClient, path: EnvironmentPath, flag: Flag): void {
  const single = flagQuery({ ...path, flag_id: flag.id }).queryKey;
  cache.setQueryData(single, (known) => (known ? flag : known));
  cache.setQueryData(flagsQuery(path).queryKey, (list) => list?.map((each) => (each.id === flag.id ? flag : each)));
}

export function refreshChanges(cache: QueryClient, path: EnvironmentPath): Promise<void> {
  return cache.invalidateQueries({ queryKey: ["changes", path.env_id] });
}
