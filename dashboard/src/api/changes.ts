/** The audit trail: changes to an environment with its flags and rules, to resources of a kind, or to accounts. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { queryOf } from "./changesFilter";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { readPages } from "./pagedReads";
import { read } from "./reads";

/** The previous release, which may answer during an upgrade, does not count comments. */
export type Change = Omit<components["schemas"]["ChangeOut"], "comments"> & { readonly comments?: number };

export type ChangeSummary = components["schemas"]["ChangeSummaryOut"];

const OF_PROJECT = "/api/projects/{project_id}/changes";
const OF_ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}/changes";

type Wanted = ReturnType<typeof queryOf>;

/** The changes of one flag, its rules and the segments that they name. */
export function flagChangesQuery(path: EnvironmentPath, flagId: string) {
  return readPages(OF_ENVIRONMENT, path, { flag_id: flagId });
}

/** The changes in an environment, and of what it shares with others, that match filters. */
export function environmentChangesQuery(path: EnvironmentPath, wanted: Omit<Wanted, "environment">) {
  return { ...readPages(OF_ENVIRONMENT, path, wanted), placeholderData: keepPreviousData };
}

/** The newest of them, if there is one. */
export function lastChangeQuery(path: EnvironmentPath, flagId: string) {
  return queryOptions({
    ...read(OF_ENVIRONMENT, path, { limit: 1, flag_id: flagId }),
    select: ({ items }): Change | null => items[0] ?? null,
  });
}

/** The numbers of changes to what decides an environment's flags, or one of them, in the intervals of a chart. */
type Times = Pick<components["schemas"]["SummaryOut"], "since" | "until" | "interval" | "tz">;

export function changeSummaryQuery(path: EnvironmentPath, times: Times, flagKey: string) {
  const query = { ...times, ...(flagKey !== "" && { flag_key: flagKey }) };
  return read(`${OF_ENVIRONMENT}/summary`, path, query);
}

/** Changes to a project's resources of one kind, including deleted ones. */
export function projectChangesQuery(
  projectId: string,
  resource: "segment" | "sdk_key" | "webhook" | "member" | "invitation" | "token",
) {
  return readPages(OF_PROJECT, { project_id: projectId }, { resource });
}

/** The changes in a project that match filters. */
export function allChangesQuery(projectId: string, wanted: Wanted) {
  return { ...readPages(OF_PROJECT, { project_id: projectId }, wanted), placeholderData: keepPreviousData };
}

/** All of them as CSV. */
export function exportChanges(projectId: string, wanted: Wanted): Promise<Blob> {
  const params = { path: { project_id: projectId }, query: wanted };
  return ask(client.GET("/api/projects/{project_id}/changes.csv", { params, parseAs: "blob" }));
}

/** Changes to accounts and to the instance's settings, for administrators. */
export const instanceChangesQuery = readPages("/api/admin/changes");

/** Changes to the signed-in account itself. */
export const ownChangesQuery = readPages("/api/me/changes");
