/** Puts changes back as they were. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf, outdateAllBut } from "../../api/queryKeys";

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

/** Changes by their ids, or all of the operation that made one of them. */
export type Chosen = { readonly changes: readonly string[] } | { readonly batch_of: string };

/** Puts several changes back, or none of them. */
export function restoreChanges(projectId: string, chosen: Chosen, { dry_run = false, if_unchanged = false }: Options) {
  const params = { path: { project_id: projectId } };
  const which = "batch_of" in chosen ? chosen : { changes: [...chosen.changes] };
  return ask(client.POST(SEVERAL, { params, body: { ...which, dry_run, if_unchanged } }));
}

/** The alterations that putting back several changes would make now, and the changes that cannot be put back. */
export function dryRunAllQuery(projectId: string, chosen: Chosen) {
  return queryOptions({
    queryKey: keyOf(SEVERAL, { project_id: projectId }, chosen),
    queryFn: () => restoreChanges(projectId, chosen, { dry_run: true }),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

export function useRestoreChanges(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (chosen: Chosen) => restoreChanges(projectId, chosen, {}),
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
