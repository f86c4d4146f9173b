/** Reading and changing projects. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type Project } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { ifMatch, type Tagged } from "./states";
import { read } from "./reads";
import { keyOf, outdate } from "./queryKeys";

export type OwnPermissions = components["schemas"]["OwnPermissionsOut"];

export const PROJECT = "/api/projects/{project_id}";

export const projectsQuery = read("/api/projects");

/**
 * The data that every page of a project needs, in one request: the project, its environments, and the account's
 * permissions.
 * `projectQuery`, `environmentsQuery` and `permissionsQuery` are parts of it.
 */
export function projectInFullQuery(projectId: string) {
  return queryOptions({
    queryKey: keyOf(PROJECT, { project_id: projectId }),
    queryFn: async ({ signal }) => {
      const query = { environments: true, permissions: true };
      const {
        // The previous release, which may answer during an upgrade, does not return these.
        environments = await ask(client.GET(`${PROJECT}/environments`, { params: at(projectId), signal })),
        permissions = await ask(client.GET(`${PROJECT}/permissions`, { params: at(projectId), signal })),
        ...project
      } = await ask(client.GET(PROJECT, { params: { ...at(projectId), query }, signal }));
      return { project, environments: environments ?? [], permissions: permissions as OwnPermissions };
    },
  });
}

export function projectQuery(projectId: string) {
  return queryOptions({ ...projectInFullQuery(projectId), select: ({ project }) => project });
}

export function useCreateProject() {
  const keep = useKeep();
  return useMutation({
    mutationFn: (body: { name: string; description: string | null }) => ask(client.POST("/api/projects", { body })),
    onSuccess: keep,
  });
}

export function useUpdateProject(projectId: string) {
  const keep = useKeep();
  return useMutation({
    mutationFn: ({
      tag,
      ...body
    }: {
      name?: string;
      description?: string | null;
      shares_contents?: boolean;
      history_retention_days?: number | null;
    } & Tagged) => ask(client.PUT(PROJECT, { params: at(projectId), body, ...ifMatch(tag) })),
    onSuccess: keep,
  });
}

export function useRegenerateKey(projectId: string) {
  const keep = useKeep();
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.POST(`${PROJECT}/regenerate-key`, { params: at(projectId), ...ifMatch(tag) })),
    onSuccess: keep,
  });
}

export function useDeleteProject(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) => ask(client.DELETE(PROJECT, { params: at(projectId), ...ifMatch(tag) })),
    onSuccess: () => cache.invalidateQueries({ queryKey: projectsQuery.queryKey, refetchType: "all" }),
  });
}

function at(projectId: string) {
  return { path: { project_id: projectId } };
}

function useKeep() {
  const cache = useQueryClient();
  return (project: Project) => {
    cache.setQueryData(projectInFullQuery(project.id).queryKey, (known) => known && { ...known, project });
    return outdate(cache, projectsQuery);
  };
}
