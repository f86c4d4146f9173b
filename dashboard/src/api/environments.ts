/** Environments of a project. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import { projectInFullQuery } from "./projects";
import { ifMatch, loadState, type State, type Tagged } from "./states";

const BASE = "/api/projects/{project_id}/environments";

export function environmentsQuery(projectId: string) {
  return queryOptions({ ...projectInFullQuery(projectId), select: ({ environments }) => environments });
}

export function useCreateEnvironment(projectId: string) {
  return useMutation({
    mutationFn: (body: { name: string; key: string; copy_from: string | null; all_off: boolean }) =>
      ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSuccess: useRefresh(projectId),
  });
}

export function useUpdateEnvironment(projectId: string, environmentId: string) {
  return useMutation({
    mutationFn: ({
      tag,
      ...body
    }: { name?: string; critical?: boolean; history_retention_days?: number | null } & Tagged) =>
      ask(client.PUT(`${BASE}/{env_id}`, { params: at(projectId, environmentId), body, ...ifMatch(tag) })),
    onSuccess: useRefresh(projectId),
  });
}

export function useDeleteEnvironment(projectId: string, environmentId: string) {
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.DELETE(`${BASE}/{env_id}`, { params: at(projectId, environmentId), ...ifMatch(tag) })),
    onSuccess: useRefresh(projectId),
  });
}

/** The environment with its tag, which lists do not have. */
export function loadEnvironment(projectId: string, environmentId: string): Promise<State> {
  return loadState(client.GET(`${BASE}/{env_id}`, { params: at(projectId, environmentId) }));
}

function at(projectId: string, environmentId: string) {
  return { path: { project_id: projectId, env_id: environmentId } };
}

function useRefresh(projectId: string) {
  const cache = useQueryClient();
  return () => cache.invalidateQueries({ queryKey: environmentsQuery(projectId).queryKey, refetchType: "all" });
}
