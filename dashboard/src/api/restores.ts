/** Puts changes back as they were. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { keyOf, outdateAllBut } from "./queryKeys";

export type Alteration = components["schemas"]["AlterationOut"];

const ONE = "/api/projects/{project_id}/changes/{change_id}/restore";
const SEVERAL = "/api/projects/{project_id}/changes/restore";

interface Options {
  readonly dry_run?: boolean;
  readonly if_unchanged?: boolean;
}

export function restoreChange(projectId: string, changeId: string, { dry_run = false, if_unchanged = false }: Options) {
  const params = { path: { project_id: projectId, change_id: changeId } };
  return ask(client.POST(ONE, { params, body: { dry_run, if_unchanged } }));
}

/** The alterations that putting back a change would make now. */
export function dryRunQuery(projectId: string, changeId: string) {
  return queryOptions({
    queryKey: keyOf(ONE, { project_id: projectId, change_id: changeId }),
    queryFn: () => restoreChange(projectId, changeId, { dry_run: true }),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

/** Puts several changes back, newest first, or none of them. */
export function restoreChanges(
  projectId: string,
  changes: readonly string[],
  { dry_run = false, if_unchanged = false }: Options,
) {
  const params = { path: { project_id: projectId } };
  const body = { changes: [...changes], dry_run, if_unchanged };
  return ask(client.POST(SEVERAL, { params, body }));
}

/** The alterations that putting back several changes would make now, and the changes that cannot be put back. */
export function dryRunAllQuery(projectId: string, changes: readonly string[]) {
  return queryOptions({
    queryKey: keyOf(SEVERAL, { project_id: projectId }, ...changes),
    queryFn: () => restoreChanges(projectId, changes, { dry_run: true }),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

export function useRestoreChanges(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (changes: readonly string[]) => restoreChanges(projectId, changes, {}),
    onSuccess: () => outdateAllBut(cache, ONE, SEVERAL),
  });
}

export function useRestoreChange(projectId: string, changeId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => restoreChange(projectId, changeId, {}),
    // The restored resource can be of any kind. Another dry run would find nothing left to put back.
    onSuccess: () => outdateAllBut(cache, ONE, SEVERAL),
  });
}
