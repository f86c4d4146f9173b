/** The audit trail: changes to an environment with its flags and rules, to resources of a kind, or to accounts. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { queryOf } from "../lib/auditFilter";
import { client, type EnvironmentPath } from "./client";
import type { Summary } from "./history";
import { ask } from "./problem";
import type { components } from "./schema";

/** `comments` is the number of those on it, in lists. */
export type Change = components["schemas"]["ChangeOut"] & { readonly comments?: number };
type ChangesPage = components["schemas"]["ChangesPageOut"];

export type ChangeSummary = components["schemas"]["ChangeSummaryOut"];

const PAGE = { limit: 50 };

export function changesQuery(path: EnvironmentPath, flagId?: string, since?: string) {
  return pages([path.env_id, flagId ?? null, since ?? null], (page, signal) => {
    const query = {
      ...page,
      ...(flagId !== undefined && { flag_id: flagId }),
      ...(since !== undefined && { since }),
    };
    return ask(
      client.GET("/api/projects/{project_id}/environments/{env_id}/changes", { params: { path, query }, signal }),
    );
  });
}

/** How often what decides an environment's flags, or one of them, was changed, in the intervals of a chart. */
export function changeSummaryQuery(path: EnvironmentPath, { since, until, interval }: Summary, flagKey: string) {
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

type AuditQuery = ReturnType<typeof queryOf>;

/** The changes in a project that match filters. */
export function auditQuery(projectId: string, wanted: AuditQuery) {
  return {
    ...pages([projectId, "audit", JSON.stringify(wanted)], (page, signal) => {
      const params = { path: { project_id: projectId }, query: { ...page, ...wanted } };
      return ask(client.GET("/api/projects/{project_id}/changes", { params, signal }));
    }),
    placeholderData: keepPreviousData,
  };
}

/** All of them as CSV. */
export function exportAudit(projectId: string, wanted: AuditQuery): Promise<Blob> {
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
