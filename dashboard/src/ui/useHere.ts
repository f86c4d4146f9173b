/** The current project and environment, which the route has loaded. */

import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, notFound } from "@tanstack/react-router";
import { useMemo } from "react";
import { environmentsQuery } from "../api/environments";
import { projectQuery } from "../api/projects";

const project = getRouteApi("/signed-in/projects/$projectId");
const environment = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId");

export function useProject() {
  return useSuspenseQuery(projectQuery(project.useParams().projectId)).data;
}

export function useEnvironments() {
  return useSuspenseQuery(environmentsQuery(project.useParams().projectId)).data;
}

export function useHere() {
  const { environmentId } = environment.useParams();
  const here = { project: useProject(), environments: useEnvironments() };
  const found = here.environments.find((each) => each.id === environmentId);
  if (!found) throw notFound();
  const projectId = here.project.id;
  const path = useMemo(() => ({ project_id: projectId, env_id: environmentId }), [projectId, environmentId]);
  return { project: here.project, environment: found, path };
}
