/** Targeting rules of a flag, in the order in which they are checked. */

import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { PriorityChange } from "../lib/priorities";
import { client, type EnvironmentPath, type FlagPath, type NewRule, type Rule } from "./client";
import { refreshChanges } from "./flags";
import { ask } from "./problem";

const BASE = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/rules";

export function rulesQuery(path: FlagPath) {
  return queryOptions({
    queryKey: ["rules", path.flag_id],
    queryFn: ({ signal }) => ask(client.GET(BASE, { params: { path }, signal })),
  });
}

/** The rules of all flags of an environment, by the flag's id. */
export function rulesByFlagQuery(path: EnvironmentPath) {
  return queryOptions({
    queryKey: ["rules-by-flag", path.env_id],
    queryFn: ({ signal }) =>
      ask(client.GET("/api/projects/{project_id}/environments/{env_id}/rules", { params: { path }, signal })),
    select: (rules) => Map.groupBy(rules, (rule) => rule.flag_id),
  });
}

export function useCreateRule(path: FlagPath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: (body: NewRule) => ask(client.POST(BASE, { params: { path }, body })),
    onSettled: refresh,
  });
}

export function useUpdateRule(path: FlagPath) {
  const cache = useQueryClient();
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: ({ id, ...body }: Partial<NewRule> & { id: string }) =>
      ask(client.PUT(`${BASE}/{rule_id}`, { params: { path: { ...path, rule_id: id } }, body })),
    meta: { done: "ruleChanged" },
    onMutate: ({ id, ...values }) => foresee(cache, path, (rule) => (rule.id === id ? { ...rule, ...values } : rule)),
    onSettled: refresh,
  });
}

/**
 * Gives rules new priorities, which are shown immediately. The rules are reloaded whether or not the calls succeeded, but
 * not while a later change waits: they would show the order before it.
 */
export function useReorderRules(path: FlagPath) {
  const cache = useQueryClient();
  const refresh = useRefresh(path);
  const mutationKey = ["reorder-rules", path.flag_id];
  return useMutation({
    mutationKey,
    meta: { done: "rulesMoved" },
    scope: { id: mutationKey.join() }, // one after the other, so that the last press decides
    mutationFn: async (reordered: readonly PriorityChange[]) => {
      for (const { id, priority } of reordered) {
        const params = { path: { ...path, rule_id: id } };
        await ask(client.PUT(`${BASE}/{rule_id}`, { params, body: { priority } }));
      }
    },
    onMutate: (reordered) => {
      const priorities = new Map(reordered.map((each) => [each.id, each.priority]));
      return foresee(cache, path, (rule) => ({ ...rule, priority: priorities.get(rule.id) ?? rule.priority }));
    },
    onSettled: () => (cache.isMutating({ mutationKey }) === 1 ? refresh() : undefined),
  });
}

export function useDeleteRule(path: FlagPath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: (ruleId: string) =>
      ask(client.DELETE(`${BASE}/{rule_id}`, { params: { path: { ...path, rule_id: ruleId } } })),
    meta: { done: "ruleDeleted" },
    onSettled: refresh,
  });
}

async function foresee(cache: QueryClient, path: FlagPath, change: (rule: Rule) => Rule): Promise<void> {
  const { queryKey } = rulesQuery(path);
  cache.setQueryData(queryKey, (rules) => rules?.map(change).toSorted(byPrecedence));
  await cache.cancelQueries({ queryKey });
}

/** Shows the rules of one flag in the list of all, too. */
export function keepRules(cache: QueryClient, path: FlagPath, rules: readonly Rule[]): void {
  const others = (rule: Rule) => rule.flag_id !== path.flag_id;
  cache.setQueryData(rulesByFlagQuery(path).queryKey, (known) => known && [...known.filter(others), ...rules]);
}

function byPrecedence(a: Rule, b: Rule): number {
  return b.priority - a.priority || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id);
}

function useRefresh(path: FlagPath) {
  const cache = useQueryClient();
  return () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: rulesQuery(path).queryKey }),
      cache.invalidateQueries({ queryKey: rulesByFlagQuery(path).queryKey }),
      refreshChanges(cache, path),
    ]);
}
