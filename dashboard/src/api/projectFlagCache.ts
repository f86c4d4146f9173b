/** What is shown of the flags of all environments, by key, after something has changed. */

import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { EnvironmentPath } from "./client";
import { PATH, type ProjectFlag } from "./projectFlags";
import { keyOf } from "./keys";

export function refreshProjectFlags(cache: QueryClient, { project_id: projectId }: EnvironmentPath): Promise<void> {
  return cache.invalidateQueries({ queryKey: keyOf(PATH, { project_id: projectId }) });
}

/** Drops what is being loaded, which may show an earlier state than the one that is shown. */
export function keepProjectFlags(cache: QueryClient, { project_id: projectId }: EnvironmentPath): Promise<void> {
  return cache.cancelQueries({ queryKey: keyOf(PATH, { project_id: projectId }) });
}

/** Shows another state of a flag wherever its project's flags are shown. */
export function showState(cache: QueryClient, path: EnvironmentPath, id: string, enabled: boolean): void {
  const changed = (row: ProjectFlag): ProjectFlag => ({
    ...row,
    flags: row.flags.map((each) => (each.id === id ? { ...each, enabled } : each)),
  });
  cache.setQueriesData<ProjectFlag | null>(
    { queryKey: keyOf(PATH, { project_id: path.project_id }, "key") },
    (row) => row && changed(row),
  );
  changeRows(cache, path.project_id, changed);
}

/** Shows what is known of a flag in the tables of its project. */
export function keepRow(cache: QueryClient, projectId: string, row: ProjectFlag): void {
  changeRows(cache, projectId, (each) => (each.key === row.key ? row : each));
}

function changeRows(cache: QueryClient, projectId: string, changed: (row: ProjectFlag) => ProjectFlag): void {
  cache.setQueriesData<InfiniteData<{ items: ProjectFlag[] }>>(
    { queryKey: keyOf(PATH, { project_id: projectId }, "parts") },
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, items: page.items.map(changed) })) },
  );
}
