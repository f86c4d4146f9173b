/** Environments of a project. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type Environment } from "./client";
import { ask } from "./problem";

const BASE = "/api/projects/{project_id}/environments";

export function environmentsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["environments", projectId],
    queryFn: async ({ signal }) =>
      inOrder(await ask(client.GET(BASE, { params: { path: { project_id: projectId } }, signal }))),
  });
}

/** Changes to production affect real users, so it must never be mistaken for another environment. */
export function isProduction(environment: { readonly key: string }): boolean {
  return /^prod(uction)?$/.test(environment.key);
}

/** Production first, then from oldest to newest, so that positions do not change. */
export function inOrder(environments: readonly Environment[]): Environment[] {
  return environments.toSorted(
    (a, b) => Number(isProduction(b)) - Number(isProduction(a)) || a.created_at.localeCompare(b.created_at),
  );
}

export function useCreateEnvironment(projectId: string) {
  return useMutation({
    mutationFn: (body: { name: string; key: string; copy_from: string | null; all_off: boolean }) =>
      ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSuccess: useRefresh(projectId),
  });
}

export function useRenameEnvironment(projectId: string, environmentId: string) {
  return useMutation({
    mutationFn: (body: { name: string }) =>
      ask(client.PUT(`${BASE}/{env_id}`, { params: at(projectId, environmentId), body })),
    onSuccess: useRefresh(projectId),
  });
}

export function useDeleteEnvironment(projectId: string, environmentId: string) {
  return useMutation({
    mutationFn: () => ask(client.DELETE(`${BASE}/{env_id}`, { params: at(projectId, environmentId) })),
    onSuccess: useRefresh(projectId),
  });
}

function at(projectId: string, environmentId: string) {
  return { path: { project_id: projectId, env_id: environmentId } };
}

function useRefresh(projectId: string) {
  const cache = useQueryClient();
  return () => cache.invalidateQueries({ queryKey: environmentsQuery(projectId).queryKey, refetchType: "all" });
}
