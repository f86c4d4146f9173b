/** The number of recorded users whose result changes when flags are turned on. */

import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { TurnedOn } from "./turnOnRequest";
import type { FlagPath } from "../../api/client";
import { type Impact, IMPACT, impactQuery } from "../explanations/explainCalls";
import { flagQuery } from "./flagsCalls";
import { lineOf } from "../../api/problem";
import { rulesQuery } from "./rulesCalls";
import { keyOf } from "../../api/queryKeys";

/** More would take the server long. */
export const COUNTED = 10;

export interface Counted {
  readonly name: string;
  /** Null if it could not be counted, for the `reason`, or if there is no such flag yet. */
  readonly impact: Impact | null;
  readonly reason: string | null;
}

/** The first flags, one after another. */
export function turnedOnQuery(cache: QueryClient, flags: readonly TurnedOn[]) {
  return queryOptions({
    queryKey: keyOf(IMPACT, {}, ...flags.map(({ path, name }) => path?.flag_id ?? name)),
    queryFn: async () => {
      const counted: Counted[] = [];
      // One after another, because each takes the server some work.
      for (const flag of flags.slice(0, COUNTED)) counted.push(await count(cache, flag));
      return counted;
    },
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
}

async function count(cache: QueryClient, { path, name }: TurnedOn): Promise<Counted> {
  if (path === null) return { name, impact: null, reason: null };
  try {
    return { name, impact: await countUsers(cache, path), reason: null };
  } catch (error) {
    return { name, impact: null, reason: lineOf(error) };
  }
}

/** Null for an archived flag, which is in no result. */
async function countUsers(cache: QueryClient, path: FlagPath): Promise<Impact | null> {
  const [flag, rules] = await Promise.all([cache.query(flagQuery(path)), cache.query(rulesQuery(path))]);
  if (flag.archived_at !== null) return null;
  return cache.query(impactQuery(path, JSON.stringify({ ...flag, enabled: true, rules })));
}
