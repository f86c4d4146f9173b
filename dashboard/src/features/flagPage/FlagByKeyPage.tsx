/**
 * A flag by its key: opens its page in this environment, or says that it does not exist and offers to create it. The
 * chart around a time of a deleted flag is that of the environment.
 */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { flagsOfKeyQuery } from "../flags/projectFlagsCalls";
import { MissingFlag } from "./MissingFlag";
import { PageSkeleton } from "../../ui/PageSkeleton";
import { ProblemPage } from "../../ui/ProblemPage";
import { flagIn } from "../flags/projectFlags";
import { useHere } from "../../ui/useHere";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/flags/by-key/$flagKey");

export function FlagByKeyPage() {
  const { project, environment } = useHere();
  const { flagKey } = route.useParams();
  const search = route.useSearch();
  const { data: row, error, refetch } = useQuery(flagsOfKeyQuery(project.id, flagKey));
  if (row === undefined) return error ? <ProblemPage error={error} reset={() => void refetch()} /> : <PageSkeleton />;
  const here = row && flagIn(row, environment);
  if (!here && search.at !== undefined) {
    return (
      <Navigate
        to="/projects/$projectId/environments/$environmentId/history"
        params={{ projectId: project.id, environmentId: environment.id }}
        search={{ at: search.at, flag: flagKey }}
        replace
      />
    );
  }
  if (!here) return <MissingFlag project={project} environment={environment} flagKey={flagKey} row={row} />;
  return (
    <Navigate
      to="/projects/$projectId/environments/$environmentId/flags/$flagId"
      params={{ projectId: project.id, environmentId: environment.id, flagId: here.id }}
      search={search}
      replace
    />
  );
}
