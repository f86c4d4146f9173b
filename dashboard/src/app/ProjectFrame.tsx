/** Every page of a project, until the account is no longer a member or the project is deleted. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet } from "@tanstack/react-router";
import { permissionsQuery } from "../api/members";
import { Problem } from "../api/problem";
import { useFollowedChanges } from "./useFollowedChanges";
import { NotFound } from "../ui/ProblemPage";

const route = getRouteApi("/signed-in/projects/$projectId");

export function ProjectFrame() {
  const { projectId } = route.useParams();
  const { error } = useQuery(permissionsQuery(projectId));
  useFollowedChanges(projectId);
  return error instanceof Problem && error.status === 404 ? <NotFound /> : <Outlet />;
}
