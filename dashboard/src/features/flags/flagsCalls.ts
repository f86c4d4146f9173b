/** Flags of an environment. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  client,
  type EnvironmentPath,
  type Flag,
  type FlagPath,
  type FlagUpdate,
  type NewFlag,
} from "../../api/client";
import { ask } from "../../api/problem";
import { ifMatch, saveFields, type Tagged } from "../../api/states";
import { FLAG, FLAGS, outdateRows, PROJECT_FLAGS, refreshChanges, showFlag } from "./flagCache";
import { read } from "../../api/reads";
import { allOf, outdate } from "../../api/queryKeys";

const REFRESH_MILLISECONDS = 30_000;

export function flagsQuery(path: EnvironmentPath) {
  return { ...read(FLAGS, path), refetchInterval: REFRESH_MILLISECONDS };
}

export function flagQuery(path: FlagPath) {
  return { ...read(FLAG, path), refetchInterval: REFRESH_MILLISECONDS };
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
  const [flag] = await ask(client.POST(PROJECT_FLAGS, { params, body: { ...body, environments } }));
  return flag as Flag;
}

export function useCreateFlag(path: EnvironmentPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ body, alsoIn }: Creation) =>
      alsoIn.length > 0 ? createFlags(path, body, alsoIn) : ask(client.POST(FLAGS, { params: { path }, body })),
    onSuccess: (flag) => {
      cache.setQueryData(flagQuery({ ...path, flag_id: flag.id }).queryKey, flag);
      void outdateRows(cache, path);
      return outdate(cache, ...allOf([FLAGS]));
    },
  });
}

export function useUpdateFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag, ...body }: FlagUpdate & Tagged) =>
      ask(client.PUT(FLAG, { params: { path }, body, ...ifMatch(tag) })),
    meta: { done: "changed" },
    onSuccess: (flag) => {
      showFlag(cache, flag);
      return refreshChanges(cache, path);
    },
  });
}

/** Changes fields of a flag in one call, unless others have changed the same ones. */
export function useSetFlag(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ from, fields }: { from: Flag; fields: Pick<FlagUpdate, "fallthrough"> }) =>
      saveFields(from, fields, (tag) => ask(client.PUT(FLAG, { params: { path }, body: fields, ...ifMatch(tag) }))),
    meta: { done: "changed" },
    onSuccess: (flag) => {
      showFlag(cache, flag);
      return refreshChanges(cache, path);
    },
  });
}
