/** The audit trail: changes to an environment with its flags and rules, to resources of a kind, or to accounts. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { queryOf } from "../lib/changesFilter";
import { client, type EnvironmentPath } from "./client";
import type { Summary } from "./history";
import { ask } from "./problem";
import type { components } from "./schema";

/** The release before, which may answer during an upgrade, does not count comments. */
export type Change = Omit<components["schemas"]["ChangeOut"], "comments"> & { readonly comments?: number };
type ChangesPage = components["schemas"]["ChangesPageOut"];

export type ChangeSummary = components["schemas"]["ChangeSummaryOut"];

const PAGE = { limit: 50 };

type Wanted = ReturnType<typeof queryOf>;

/** The changes of one flag, its rules and the segments that they name. */
export function flagChangesQuery(path: EnvironmentPath, flagId: string) {
  return pages([path.env_id, flagId], (page, signal) => {
    const params = { path, query: { ...page, flag_id: flagId } };
    return ask(client.GET("/api/projects/{project_id}/environments/{env_id}/changes", { params, signal }));
  });
}

/** The changes in an environment, and of what it shares with others, that match filters. */
export function environmentChangesQuery(path: EnvironmentPath, wanted: Omit<Wanted, "environment">) {
  return {
    ...pages([path.env_id, JSON.stringify(wanted)], (page, signal) => {
      const params = { path, query: { ...page, ...wanted } };
      return ask(client.GET("/api/projects/{project_id}/environments/{env_id}/changes", { params, signal }));
    }),
    placeholderData: keepPreviousData,
  };
}

/** The newest of them, if there is one. */
export function lastChangeQuery(path: EnvironmentPath, flagId: string) {
  return queryOptions({
    queryKey: ["changes", path.env_id, flagId, "last"],
    queryFn: async ({ signal }): Promise<Change | null> => {
      const params = { path, query: { limit: 1, flag_id: flagId } };
      const page = await ask(
        client.GET("/api/projects/{project_id}/environments/{env_id}/changes", { params, signal }),
      );
      return page.items[0] ?? null;
    },
  });
}

/** The numbers of changes to what decides an environment's flags, or one of them, in the intervals of a chart. */
type Times = Pick<Summary, "since" | "until" | "interval">;

export function changeSummaryQuery(path: EnvironmentPath, { since, until, interval }: Times, flagKey: string) {
  return queryOptions({
    queryKey: ["changes", path.env_id, "summary", since, until, interval, flagKey],
    queryFn: ({ signal }) => {
      const query = { since, until, interval, ...(flagKey !== "" && { flag_key: flagKey }) };
      const params = { path, query };
      return ask(client.GET("/api/projects/{project_id}/environments/{env_id}/changes/summary", { params, signal }));
    },
  });
}

/** Changes to a project's resources of one kind, including deleted ones. */
export function projectChangesQuery(
  projectId: string,
  resource: "segment" | "sdk_key" | "webhook" | "member" | "invitation" | "token",
) {
  return pages([projectId, resource], (page, signal) => {
    const params = { path: { project_id: projectId }, query: { ...page, resource } };
    return ask(client.GET("/api/projects/{project_id}/changes", { params, signal }));
  });
}

/** The changes in a project that match filters. */
export function allChangesQuery(projectId: string, wanted: Wanted) {
  return {
    ...pages([projectId, "audit", JSON.stringify(wanted)], (page, signal) => {
      const params = { path: { project_id: projectId }, query: { ...page, ...wanted } };
      return ask(client.GET("/api/projects/{project_id}/changes", { params, signal }));
    }),
    placeholderData: keepPreviousData,
  };
}

/** All of them as CSV. */
export function exportChanges(projectId: string, wanted: Wanted): Promise<Blob> {
  const params = { path: { project_id: projectId }, query: wanted };
  return ask(client.GET("/api/projects/{project_id}/changes.csv", { params, parseAs: "blob" }));
}

/** Changes to accounts and to the instance's settings, for administrators. */
export const instanceChangesQuery = pages(["instance"], (page, signal) =>
  ask(client.GET("/api/admin/changes", { params: { query: page }, signal })),
);

/** Changes to the signed-in account itself. */
export const ownChangesQuery = pages(["me"], (page, signal) =>
  ask(client.GET("/api/me/changes", { params: { query: page }, signal })),
);

type Load = (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<ChangesPage>;

function pages(key: readonly (string | null)[], load: Load) {
  return infiniteQueryOptions({
    queryKey: ["changes", ...key],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => load({ ...PAGE, ...(pageParam && { cursor: pageParam }) }, signal),
    getNextPageParam: (page) => page.next_cursor,
  });
}
