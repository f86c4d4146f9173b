/** Flags of an environment. Every change updates both the list and the single flag in the cache. */

import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath, type Flag, type FlagPath, type FlagUpdate, type NewFlag } from "./client";
import { ask } from "./problem";
import { keepProjectFlags, refreshProjectFlags, showState } from "./projectFlagCache";

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
      void refreshProjectFlags(cache, path);
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
  readonly flag: Pick<Flag, "id" | "name">;
  readonly enabled: boolean;
}

const SWITCH = "switch";

/**
 * Turns flags on and off. The new state is shown immediately, and is reverted if the server refuses it. `where` names the
 * environment in the message that it was done, for pages that show several.
 *
 * The call sends the desired state instead of toggling: if two people turn a flag off, it must not end up on. Calls of
 * one environment reach the server in the order in which they were made.
 */
export function useSwitchFlag(
  path: EnvironmentPath,
  onRefused: (switching: Switching, error: Error) => void,
  where?: string,
) {
  const cache = useQueryClient();
  const mutationKey = [SWITCH, path.env_id];
  const isLast = (id: string) =>
    cache
      .getMutationCache()
      .findAll({ mutationKey, status: "pending" })
      .filter((each) => (each.state.variables as Switching).flag.id === id).length <= 1;
  return useMutation({
    mutationKey,
    scope: { id: mutationKey.join(" ") },
    meta: { done: "switched", where },
    mutationFn: ({ flag, enabled }: Switching) =>
      ask(client.PUT(`${BASE}/{flag_id}`, { params: { path: { ...path, flag_id: flag.id } }, body: { enabled } })),
    onMutate: async ({ flag, enabled }) => {
      keepFlag(cache, path, { id: flag.id, enabled });
      // A list that is still loading may show the earlier state.
      await cache.cancelQueries({ queryKey: flagsQuery(path).queryKey });
      await cache.cancelQueries({ queryKey: ["flag", flag.id] });
      await keepProjectFlags(cache, path);
    },
    onSuccess: (updated) => {
      if (isLast(updated.id)) keepFlag(cache, path, updated);
      return cache.isMutating({ mutationKey: [SWITCH] }) <= 1
        ? refreshChanges(cache, path)
        : cache.invalidateQueries({ queryKey: ["changes", path.env_id] });
    },
    onError: (error, switching) => {
      if (isLast(switching.flag.id)) keepFlag(cache, path, { id: switching.flag.id, enabled: !switching.enabled });
      onRefused(switching, error);
      void cache.invalidateQueries({ queryKey: flagsQuery(path).queryKey });
      void refreshProjectFlags(cache, path);
    },
  });
}

/** Shows what is known of a flag wherever it is shown. */
export function keepFlag(
  cache: QueryClient,
  path: EnvironmentPath,
  flag: Partial<Flag> & Pick<Flag, "id" | "enabled">,
): void {
  const single = flagQuery({ ...path, flag_id: flag.id }).queryKey;
  cache.setQueryData(single, (known) => known && { ...known, ...flag });
  cache.setQueryData(flagsQuery(path).queryKey, (list) =>
    list?.map((each) => (each.id === flag.id ? { ...each, ...flag } : each)),
  );
  showState(cache, path, flag.id, flag.enabled);
}

/** After a change: what lists changes, and what shows the flags of all environments. */
export function refreshChanges(cache: QueryClient, path: EnvironmentPath): Promise<unknown> {
  return Promise.all([
    cache.invalidateQueries({ queryKey: ["changes", path.env_id] }),
    refreshProjectFlags(cache, path),
  ]);
}
