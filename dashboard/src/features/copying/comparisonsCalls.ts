/** Compares two environments, and copies flags from one to the other. */

import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../../api/client";
import { readParts } from "../../api/pagedReads";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf, outdateAllBut } from "../../api/queryKeys";

export type Comparison = components["schemas"]["ComparisonOut"];
export type CopyAlteration = components["schemas"]["CopyAlterationOut"];
export type CopyBody = components["schemas"]["CopyBody"];
export type Part = NonNullable<CopyBody["parts"]>[number];

export const FLAGS_MAX = 100;

export const COMPARE = "/api/projects/{project_id}/compare";
const COPY = "/api/projects/{project_id}/copy";

export function compareQuery(projectId: string, from: string, to: string) {
  return readParts(COMPARE, { project_id: projectId }, { from, to });
}

function copyFlags(projectId: string, body: CopyBody) {
  return ask(client.POST(COPY, { params: { path: { project_id: projectId } }, body }));
}

/** The alterations that a copy would make now. A dialog that closes loads none, because no flag is chosen any more. */
export function copyPreviewQuery(projectId: string, body: CopyBody, isAsked: boolean) {
  return queryOptions({
    queryKey: keyOf(COPY, { project_id: projectId }, body),
    queryFn: () => copyFlags(projectId, { ...body, dry_run: true }),
    enabled: isAsked && body.parts !== undefined && body.parts.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

export function useCopyFlags(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: CopyBody) => copyFlags(projectId, body),
    onSuccess: () => outdateAllBut(cache, COPY),
  });
}
