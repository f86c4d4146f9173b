/** The evaluation history: pages of evaluations, and their totals by interval. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { around, AROUND_INTERVALS, intervalsFor, type Period, sinceOf } from "../lib/periods";
import { firstDay } from "../lib/users";
import { client, type EnvironmentPath, type FlagPath } from "./client";
import { ask, Problem } from "./problem";
import type { components } from "./schema";

export type Evaluation = components["schemas"]["EvaluationOut"];
export type FlagEvaluation = components["schemas"]["FlagEvaluationOut"];
export type FlagInterval = components["schemas"]["FlagIntervalOut"];
export type DistinctUsers = components["schemas"]["DistinctUsersOut"];
export type Summary = components["schemas"]["SummaryOut"];

export const LIVE_MILLISECONDS = 2_000;
const SUMMARY_MILLISECONDS = 60_000;
const BASE = "/api/projects/{project_id}/environments/{env_id}";

export interface EvaluationFilter {
  readonly userId: string;
  readonly userEmail: string;
  readonly flagKey: string;
  readonly enabled: boolean | null;
  readonly variant: string;
  readonly ruleId: string;
  readonly period: Period;
  /** If not null, the history around this moment, instead of the period. */
  readonly at: string | null;
}

export function evaluationsQuery(path: EnvironmentPath, filter: EvaluationFilter) {
  return infiniteQueryOptions({
    queryKey: ["evaluations", path.env_id, filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      ask(
        client.GET(`${BASE}/evaluations`, {
          params: {
            path,
            query: { ...queryOf(filter, pageParam), ...(filter.flagKey && { flag_key: filter.flagKey }) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
}

export function flagEvaluationsQuery(path: FlagPath, filter: EvaluationFilter) {
  return infiniteQueryOptions({
    queryKey: ["evaluations", path.env_id, path.flag_id, filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      ask(
        client.GET(`${BASE}/flags/{flag_id}/evaluations`, {
          params: { path, query: queryOf(filter, pageParam) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
}

/**
 * Counts of on and off by interval and reason, for one flag or for all, of which there are about `flags`. If all are too
 * many for one response, the intervals are longer.
 */
export function summaryQuery(
  path: EnvironmentPath,
  period: Exclude<Period, "all">,
  {
    flagKey,
    flags = 1,
    at = null,
  }: { readonly flagKey?: string | undefined; readonly flags?: number; readonly at?: string | null } = {},
) {
  return queryOptions({
    queryKey: ["evaluations", path.env_id, "summary", period, flagKey ?? null, at],
    queryFn: async ({ signal }) => {
      const load = async ([interval = "1d", ...longer]: readonly string[]): Promise<Summary> => {
        const query = {
          ...(at === null ? { since: sinceOf(period, Date.now()) } : around(at)),
          interval,
          ...(flagKey !== undefined && { flag_key: flagKey }),
        };
        try {
          return await ask(client.GET(`${BASE}/evaluations/summary`, { params: { path, query }, signal }));
        } catch (error) {
          const isTooLarge = error instanceof Problem && error.status === 400 && flagKey === undefined;
          if (!isTooLarge || longer.length === 0) throw error;
          return load(longer);
        }
      };
      return load(at === null ? intervalsFor(period, flags) : AROUND_INTERVALS);
    },
    refetchInterval: SUMMARY_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

/** For how many users a flag was on and off, on each of the last days and in all of them. */
export function usersQuery(path: EnvironmentPath, flagKey: string) {
  return queryOptions({
    queryKey: ["evaluations", path.env_id, "users", flagKey],
    queryFn: ({ signal }) => {
      const query = { since: firstDay(Date.now()), interval: "1d", flag_key: flagKey };
      return ask(client.GET(`${BASE}/evaluations/summary`, { params: { path, query }, signal }));
    },
    refetchInterval: SUMMARY_MILLISECONDS,
  });
}

function queryOf(filter: EvaluationFilter, cursor: string) {
  const since = filter.period === "all" ? undefined : sinceOf(filter.period, Date.now());
  const bounds = filter.at === null ? since && { since } : around(filter.at);
  return {
    limit: 50,
    ...(cursor && { cursor }),
    ...(filter.userId && { user_id: filter.userId }),
    ...(filter.userEmail && { user_email: filter.userEmail }),
    ...(filter.enabled !== null && { enabled: filter.enabled }),
    ...(filter.variant && { variant: filter.variant }),
    ...(filter.ruleId && { rule_id: filter.ruleId }),
    ...bounds,
  };
}
