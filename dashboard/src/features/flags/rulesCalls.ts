/** Targeting rules of a flag, in the order in which they are checked. */

import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type EnvironmentPath, type FlagPath, type Rule, type RuleFields } from "../../api/client";
import { refreshChanges } from "./flagCache";
import { ask } from "../../api/problem";
import { ifMatch, saveFields, type Tagged } from "../../api/states";
import { read } from "../../api/reads";
import { keyOf, outdate } from "../../api/queryKeys";

export const BASE = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/rules";
export const BY_FLAG = "/api/projects/{project_id}/environments/{env_id}/rules";

export function rulesQuery(path: FlagPath) {
  return read(BASE, path);
}

/** The rules of all flags of an environment, by the flag's id. */
export function rulesByFlagQuery(path: EnvironmentPath) {
  return queryOptions({
    ...read(BY_FLAG, path),
    select: (rules) => Map.groupBy(rules, (rule) => rule.flag_id),
  });
}

export function useCreateRule(path: FlagPath) {
  return useMutation({
    mutationFn: ({ rule_type, rule_value, ...fields }: RuleFields) => {
      const body =
        rule_type === "attributes" ? { ...fields, rule_type } : { ...fields, rule_type, rule_value: rule_value ?? "" };
      return ask(client.POST(BASE, { params: { path }, body }));
    },
    onSettled: useRefresh(path),
  });
}

export function useUpdateRule(path: FlagPath) {
  return useMutation({
    mutationFn: ({ id, tag, ...body }: Partial<RuleFields> & Tagged & { id: string }) =>
      ask(client.PUT(`${BASE}/{rule_id}`, { params: { path: { ...path, rule_id: id } }, body, ...ifMatch(tag) })),
    meta: { done: "ruleChanged" },
    onSettled: useRefresh(path),
  });
}

interface RuleSwitching {
  readonly id: string;
  readonly enabled: boolean;
  /** The rule as it was seen. */
  readonly from: Rule;
}

/** Turns rules on and off, which is shown immediately. */
export function useSwitchRule(path: FlagPath) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ id, enabled, from }: RuleSwitching) =>
      saveFields(from, { enabled }, (tag) => {
        const params = { path: { ...path, rule_id: id } };
        return ask(client.PUT(`${BASE}/{rule_id}`, { params, body: { enabled }, ...ifMatch(tag) }));
      }),
    meta: { done: "ruleChanged" },
    onMutate: ({ id, enabled }) => foresee(cache, path, (rule) => (rule.id === id ? { ...rule, enabled } : rule)),
    onError: (_error, _variables, before) => cache.setQueryData(rulesQuery(path).queryKey, before),
    onSettled: useRefresh(path),
  });
}

interface Reordering {
  readonly reordered: readonly Pick<Rule, "id" | "priority">[];
  /** The rules as they were seen. */
  readonly before: readonly Rule[];
}

/**
 * Gives rules new priorities, which are shown immediately. The rules are reloaded whether or not the calls succeeded, but
 * not while a later change waits: they would show the order before it.
 */
export function useReorderRules(path: FlagPath) {
  const cache = useQueryClient();
  const refresh = useRefresh(path);
  const mutationKey = keyOf(BASE, path, "order");
  return useMutation({
    mutationKey,
    meta: { done: "rulesMoved" },
    scope: { id: `order of ${path.flag_id}` }, // one after the other, so that the last change decides
    mutationFn: async ({ reordered, before }: Reordering) => {
      for (const { id, priority } of reordered) {
        const params = { path: { ...path, rule_id: id } };
        const from = before.find((each) => each.id === id) ?? {};
        await saveFields(from, { priority }, (tag) =>
          ask(client.PUT(`${BASE}/{rule_id}`, { params, body: { priority }, ...ifMatch(tag) })),
        );
      }
    },
    onMutate: ({ reordered }) => {
      const priorities = new Map(reordered.map((each) => [each.id, each.priority]));
      return foresee(cache, path, (rule) => ({ ...rule, priority: priorities.get(rule.id) ?? rule.priority }));
    },
    onError: (_error, _variables, before) => {
      if (cache.isMutating({ mutationKey }) === 1) cache.setQueryData(rulesQuery(path).queryKey, before);
    },
    onSettled: () => (cache.isMutating({ mutationKey }) === 1 ? refresh() : undefined),
  });
}

export function useDeleteRule(path: FlagPath) {
  return useMutation({
    mutationFn: ({ id, tag }: Tagged & { id: string }) =>
      ask(client.DELETE(`${BASE}/{rule_id}`, { params: { path: { ...path, rule_id: id } }, ...ifMatch(tag) })),
    meta: { done: "ruleDeleted" },
    onSettled: useRefresh(path),
  });
}

/** Shows a change before the server has made it. Returns the rules before it, to show them again if it fails. */
async function foresee(cache: QueryClient, path: FlagPath, change: (rule: Rule) => Rule) {
  const { queryKey } = rulesQuery(path);
  const before = cache.getQueryData(queryKey);
  cache.setQueryData(queryKey, (rules) => rules?.map(change).toSorted(byPrecedence));
  await cache.cancelQueries({ queryKey });
  return before;
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
  return () => Promise.all([outdate(cache, rulesQuery(path), rulesByFlagQuery(path)), refreshChanges(cache, path)]);
}
