/** The evaluation history: pages of evaluations, and their totals by interval. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Span } from "../../ui/charts/chartTimes";
import { type Bounded, intervalsFor, type Period, sinceOf } from "../../ui/charts/periods";
import { client, type EnvironmentPath, type FlagPath } from "../../api/client";
import { ask, Problem } from "../../api/problem";
import type { components } from "../../api/schema";
import { type Key, keyOf } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type Evaluation = components["schemas"]["EvaluationOut"];
export type FlagEvaluation = components["schemas"]["FlagEvaluationOut"];
type EvaluationsPage = components["schemas"]["EvaluationsPageOut"];
type FlagEvaluationsPage = components["schemas"]["FlagEvaluationsPageOut"];
export type FlagInterval = components["schemas"]["FlagIntervalOut"];
export type DistinctUsers = components["schemas"]["DistinctUsersOut"];
export type Predecessor = components["schemas"]["PredecessorOut"];
export type Summary = components["schemas"]["SummaryOut"];

const SUMMARY_MILLISECONDS = 60_000;
const EVALUATIONS = "/api/projects/{project_id}/environments/{env_id}/evaluations";
export const SUMMARY = `${EVALUATIONS}/summary` as const;
const OF_FLAG = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/evaluations";

export interface EvaluationFilter {
  readonly userId: string;
  readonly userEmail: string;
  readonly flagKey: string;
  /** If not empty, the flag with the key that has this id, and not the one that has the key now. */
  readonly flagId: string;
  readonly enabled: boolean | null;
  readonly variant: string;
  readonly ruleId: string;
  readonly period: Period;
  /** If not null, the history in this time, instead of the period. */
  readonly span: Span | null;
  /** The time zone in which periods begin. */
  readonly zone: string;
}

/** The part of a history that one request asks for. */
export interface Part {
  readonly limit: number;
  /** The cursor that the page before this one ended with; empty for the first page. */
  readonly cursor?: string;
  /** Loads this time and later, instead of the filter's period. */
  readonly since?: string;
}

/** A history whose pages can be loaded, and the key under which they are kept. */
export interface Source<Page> {
  readonly key: Key;
  readonly load: (part: Part, signal: AbortSignal) => Promise<Page>;
}

/** The evaluations of an environment. They have the result of the filter's flag only, and count all of them. */
export function evaluationsOf(path: EnvironmentPath, filter: EvaluationFilter): Source<EvaluationsPage> {
  const ofFlag = {
    answers: false,
    ...(filter.flagKey && { flag_key: filter.flagKey }),
    ...(filter.flagId && { flag_id: filter.flagId }),
  };
  return {
    key: keyOf(EVALUATIONS, path, filter),
    load: (part, signal) => {
      const query = { ...queryOf(filter, part), ...ofFlag };
      return ask(client.GET(EVALUATIONS, { params: { path, query }, signal }));
    },
  };
}

/** The evaluations of a flag, with its results. */
export function flagEvaluationsOf(path: FlagPath, filter: EvaluationFilter): Source<FlagEvaluationsPage> {
  return {
    key: keyOf(OF_FLAG, path, filter),
    load: (part, signal) => {
      const query = queryOf(filter, part);
      return ask(client.GET(OF_FLAG, { params: { path, query }, signal }));
    },
  };
}

/** One evaluation as it was recorded, with all results. It never changes. */
export function evaluationQuery(path: EnvironmentPath, evaluationId: string) {
  return {
    ...read(`${EVALUATIONS}/{evaluation_id}`, { ...path, evaluation_id: evaluationId }),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/**
 * Counts of on and off by interval and reason, for one flag or for all, of which there are about `flags`. If all are too
 * many for one response, the intervals are longer.
 */
export function summaryQuery(
  path: EnvironmentPath,
  period: Bounded,
  {
    flagKey,
    flags = 1,
    total = false,
  }: { readonly flagKey?: string | undefined; readonly flags?: number; readonly total?: boolean } = {},
) {
  return queryOptions({
    queryKey: keyOf(SUMMARY, path, period, flagKey ?? null, total),
    queryFn: async ({ signal }) => {
      const load = async ([interval = "1d", ...longer]: readonly string[]): Promise<Summary> => {
        const query = {
          since: sinceOf(period, Date.now(), "UTC"), // whole hours until now
          interval,
          ...(flagKey !== undefined && { flag_key: flagKey }),
          ...(total && { total, users: false }),
        };
        try {
          return await ask(client.GET(SUMMARY, { params: { path, query }, signal }));
        } catch (error) {
          const isTooLarge = error instanceof Problem && error.status === 400 && flagKey === undefined;
          if (!isTooLarge || longer.length === 0) throw error;
          return load(longer);
        }
      };
      return load(intervalsFor(period, flags));
    },
    refetchInterval: SUMMARY_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

function queryOf(filter: EvaluationFilter, { limit, cursor, since }: Part) {
  return {
    limit,
    ...(cursor && { cursor }),
    ...(filter.userId && { user_id: filter.userId }),
    ...(filter.userEmail && { user_email: filter.userEmail }),
    ...(filter.enabled !== null && { enabled: filter.enabled }),
    ...(filter.variant && { variant: filter.variant }),
    ...(filter.ruleId && { rule_id: filter.ruleId }),
    ...(since === undefined ? boundsOf(filter) : { since }),
  };
}

function boundsOf({ period, span, zone }: EvaluationFilter) {
  if (span !== null) return { since: new Date(span.since).toISOString(), until: new Date(span.until).toISOString() };
  return period === "all" ? {} : { since: sinceOf(period, Date.now(), zone) };
}
