/** Flags that are turned on and off. */

import {
  type MutationOptions,
  MutationObserver,
  type QueryClient,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback } from "react";
import { equal } from "../../api/equal";
import { wantOn } from "./turnOnRequest";
import { client, type Environment, type EnvironmentPath, type Flag } from "../../api/client";
import { dropLoading, FLAG, FLAGS, outdateRows, refreshChanges, showFlag } from "./flagCache";
import { flagsQuery } from "./flagsCalls";
import { ask } from "../../api/problem";
import { ifMatch, stateInstead } from "../../api/states";
import { keyOf, outdate } from "../../api/queryKeys";
import { outdateChanges } from "../../api/changed";

export interface Switching {
  /** As it was shown. */
  readonly flag: Pick<Flag, "id" | "name" | "updated_at">;
  readonly enabled: boolean;
}

type OnRefused = (switching: Switching, error: Error) => void;

/** The last switching of each flag in this browser: the state that was shown, and the state that it made. */
const switched = new Map<string, { seen: string; made: string }>();

/**
 * Turns a flag off in any state, but on only in the state that was shown, or in a state that this browser made from it.
 */
async function switchFlag(path: EnvironmentPath, flag: Switching["flag"], enabled: boolean): Promise<Flag> {
  const own = switched.get(flag.id);
  const isOwn = own !== undefined && flag.updated_at >= own.seen && flag.updated_at <= own.made;
  const tag = enabled ? `"${isOwn ? own.made : flag.updated_at}"` : null;
  const params = { path: { ...path, flag_id: flag.id } };
  try {
    const updated = await ask(client.PUT(FLAG, { params, body: { enabled }, ...ifMatch(tag) }));
    switched.set(flag.id, { seen: isOwn ? own.seen : flag.updated_at, made: updated.updated_at });
    return updated;
  } catch (error) {
    const now = stateInstead(error)?.resource as Flag | undefined;
    if (now?.enabled === enabled) return now;
    if (now && isAlike(flag, now)) return switchFlag(path, now, enabled);
    throw error;
  }
}

/** Whether others have only switched a flag on and off, so that its state is the same again. */
function isAlike(seen: object, now: Flag): boolean {
  return equal({ ...seen, updated_at: "", enabled: "" }, { ...now, updated_at: "", enabled: "" });
}

/**
 * Turns flags on and off. The new state is shown immediately, and is reverted if the server refuses it. `where` names the
 * environment in the message that it was done, for pages that show several.
 *
 * The call sends the desired state instead of toggling: if two people turn a flag off, it must not end up on. Calls of
 * one environment reach the server in the order in which they were made.
 */
export function switching(cache: QueryClient, path: EnvironmentPath, onRefused: OnRefused, where?: string) {
  const turnOn = (flag: Flag) => turn(cache, path, { flag, enabled: true }, onRefused, where);
  const mutationKey = keyOf(FLAGS, { env_id: path.env_id }, "switch");
  const isLast = (id: string) =>
    cache
      .getMutationCache()
      .findAll({ mutationKey, status: "pending" })
      .filter((each) => (each.state.variables as Switching).flag.id === id).length <= 1;
  return {
    mutationKey,
    scope: { id: `switches in ${path.env_id}` },
    meta: { done: "switched", where },
    mutationFn: ({ flag, enabled }: Switching) => switchFlag(path, flag, enabled),
    onMutate: async ({ flag, enabled }) => {
      showFlag(cache, { id: flag.id, enabled });
      await dropLoading(cache, { ...path, flag_id: flag.id });
    },
    onSuccess: (updated) => {
      if (isLast(updated.id)) showFlag(cache, updated);
      return cache.isMutating({ mutationKey: keyOf(FLAGS, {}, "switch") }) <= 1
        ? refreshChanges(cache, path)
        : outdateChanges(cache, path);
    },
    onError: (error, switching) => {
      const now = stateInstead(error);
      const shown = now ? (now.resource as Flag) : { id: switching.flag.id, enabled: !switching.enabled };
      if (isLast(switching.flag.id)) showFlag(cache, shown);
      // Loaded when it first happens.
      if (now) void import("./ChangedBefore").then((module) => module.ask(path, switching.flag, now, turnOn));
      else onRefused(switching, error);
      void outdate(cache, flagsQuery(path));
      void outdateRows(cache, path);
    },
  } satisfies MutationOptions<Flag, Error, Switching>;
}

/** Turns a flag on or off as `switching` says, without a question, even if other pages are shown in the meantime. */
export function turn(
  cache: QueryClient,
  path: EnvironmentPath,
  wanted: Switching,
  onRefused: OnRefused,
  where?: string,
) {
  new MutationObserver(cache, switching(cache, path, onRefused, where)).mutate(wanted).catch(() => undefined);
}

/** The same in a component. */
export function useSwitchFlag(path: EnvironmentPath, onRefused: OnRefused) {
  return useMutation(switching(useQueryClient(), path, onRefused));
}

type Place = Pick<Environment, "name" | "critical">;

/** Turns a flag on or off. Asks first if it is turned on in a critical environment; turning off never asks. */
export function useSwitch(path: EnvironmentPath, environment: Place, onRefused: OnRefused, where?: string) {
  const { mutate } = useMutation(switching(useQueryClient(), path, onRefused, where));
  return useCallback(
    (wanted: Switching) => askIfCritical(path, environment, wanted, () => mutate(wanted)),
    [path, environment, mutate],
  );
}

export function askIfCritical(path: EnvironmentPath, { name, critical }: Place, wanted: Switching, turn: () => void) {
  if (!wanted.enabled || !critical) return turn();
  wantOn({ path: { ...path, flag_id: wanted.flag.id }, name: wanted.flag.name, environment: name, turnOn: turn });
}
