/**
 * Explains what a user gets and why, and for how many users a change would change the result. Nothing is recorded or
 * stored.
 */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { type SimulatedUser, contextOf } from "./simulatedUser";
import { client, type EnvironmentPath, type FlagPath } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf } from "../../api/queryKeys";

type Schemas = components["schemas"];
/** A whole flag with all of its rules, saved or not. */
export type FlagDraft = Schemas["FlagDraft"];
export type FlagTrace = Schemas["FlagTraceOut"];
export type SegmentTrace = Schemas["SegmentTraceOut"];
/** A flag's trace, with the segments that its rules name. */
export type Explanation = FlagTrace & { readonly segments: readonly SegmentTrace[] };
export type RuleTrace = Schemas["RuleTraceOut"];
export type ConditionTrace = Schemas["ConditionTraceOut"];
export type PrerequisiteTrace = Schemas["PrerequisiteTraceOut"];
export type VariantsTrace = Schemas["VariantsTraceOut"];
export type Impact = Schemas["ImpactOut"];

const EXPLAIN = "/api/projects/{project_id}/environments/{env_id}/explain";
export const IMPACT = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/impact";

/** Explains one flag: a draft, or else the saved flag. */
export function useExplain(path: EnvironmentPath, flagKey: string) {
  return useMutation({
    mutationFn: async ({ asked, draft }: { asked: SimulatedUser; draft: FlagDraft | null }) => {
      const body = { context: contextOf(asked), flag_keys: [flagKey], flag: draft };
      const { flags, segments } = await ask(client.POST(EXPLAIN, { params: { path }, body }));
      return flags[0] && { ...flags[0], segments };
    },
  });
}

/** `draft` is the changed flag as JSON. */
export function impactQuery(path: FlagPath, draft: string) {
  return queryOptions({
    queryKey: keyOf(IMPACT, path, draft),
    queryFn: ({ signal }) => {
      const body = { flag: JSON.parse(draft) as FlagDraft };
      return ask(client.POST(IMPACT, { params: { path }, body, signal }));
    },
    retry: false,
    staleTime: 60_000,
  });
}

/** The user that was asked about last, so that the same user can be tried on a flag's page and in its dialogs. */
export function useLastAsked(path: EnvironmentPath) {
  const cache = useQueryClient();
  const key = keyOf(EXPLAIN, { project_id: path.project_id });
  return {
    last: cache.getQueryData<SimulatedUser>(key),
    remember: (asked: SimulatedUser) => cache.setQueryData(key, asked),
  };
}
