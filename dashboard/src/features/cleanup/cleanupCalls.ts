/** The flags of an environment that may be removed. */

import { infiniteQueryOptions, keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "../../api/client";
import { refreshChanges, showFlag } from "../flags/flagCache";
import { ask } from "../../api/problem";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import type { components } from "../../api/schema";
import { allOf, keyOf, outdate } from "../../api/queryKeys";

type Schemas = components["schemas"];
export type Candidate = Schemas["CandidateOut"];
export type Reason = Schemas["Reason"];
type Part = Schemas["CleanupOut"];

export interface Wanted {
  readonly days: number;
  readonly reason: Reason | null;
  readonly kept: boolean;
}

const BASE = "/api/projects/{project_id}/environments/{env_id}";
export const CLEANUP = `${BASE}/cleanup` as const;
const SHOWN_AT_ONCE = 25;

/** The candidates in parts that are not empty, unless there are no more: the server examines a part of the flags at a time. */
export function cleanupQuery(path: EnvironmentPath, { days, reason, kept }: Wanted) {
  return infiniteQueryOptions({
    queryKey: keyOf(CLEANUP, path, { days, reason, kept }),
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam, signal }) => {
      let after = pageParam;
      const candidates: Candidate[] = [];
      for (;;) {
        const limit = SHOWN_AT_ONCE - candidates.length;
        const query = { days, kept, limit, ...(reason && { reason }), ...(after !== null && { after }) };
        const part: Part = await ask(client.GET(CLEANUP, { params: { path, query }, signal }));
        candidates.push(...part.candidates);
        after = part.next_after;
        if (after === null || candidates.length >= SHOWN_AT_ONCE) return { ...part, candidates };
      }
    },
    getNextPageParam: (part) => part.next_after,
    placeholderData: keepPreviousData,
  });
}

/** Marks a flag as one that stays, or takes the mark away. */
export function useKeepFlag(path: EnvironmentPath, flag: Candidate, keep: boolean) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => {
      const params = { path: { ...path, flag_id: flag.id } };
      return saveShown(
        () => client.GET(`${BASE}/flags/{flag_id}`, { params }),
        { keep: !keep },
        { keep },
        (tag) => ask(client.PUT(`${BASE}/flags/{flag_id}`, { params, body: { keep }, ...ifMatch(tag) })),
      );
    },
    meta: { done: keep ? "kept" : "notKept" },
    onSuccess: (updated) => {
      showFlag(cache, updated);
      return Promise.all([outdate(cache, ...allOf([CLEANUP], path)), refreshChanges(cache, path)]);
    },
  });
}
