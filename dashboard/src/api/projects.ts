/** Reading and changing projects. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type Project } from "./client";
import { ask } from "./problem";
import { ifMatch, type Tagged } from "./states";

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => ask(client.GET("/api/projects", { signal })),
});

export function projectQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId],
    queryFn: ({ signal }) => ask(client.GET("/api/projects/{project_id}", { params: at(projectId), signal })),
  });
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
    mutationFn: ({ tag, ...body }: { name?: string; description?: string | null } & Tagged) =>
      ask(client.PUT("/api/projects/{project_id}", { params: at(projectId), body, ...ifMatch(tag) })),
    onSuccess: keep,
  });
}

export function useRegenerateKey(projectId: string) {
  const keep = useKeep();
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.POST("/api/projects/{project_id}/regenerate-key", { params: at(projectId), ...ifMatch(tag) })),
    onSuccess: keep,
  });
}

export function useDeleteProject(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.DELETE("/api/projects/{project_id}", { params: at(projectId), ...ifMatch(tag) })),
    onSuccess: () => cache.invalidateQueries({ queryKey: projectsQuery.queryKey, refetchType: "all" }),
  });
}

function at(projectId: string) {
  return { path: { project_id: projectId } };
}

function useKeep() {
  const cache = useQueryClient();
  return (project: Project) => {
    cache.setQueryData(projectQuery(project.id).queryKey, project);
    return cache.invalidateQueries({ queryKey: projectsQuery.queryKey });
  };
}
