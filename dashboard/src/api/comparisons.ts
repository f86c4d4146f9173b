/** What two environments differ in, and copying flags from one to the other. */

import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { partsQuery } from "./parts";
import { ask } from "./problem";
import type { components } from "./schema";

export type Comparison = components["schemas"]["ComparisonOut"];
export type CopyAlteration = components["schemas"]["CopyAlterationOut"];
export type CopyBody = components["schemas"]["CopyBody"];
export type Part = NonNullable<CopyBody["parts"]>[number];

export const FLAGS_MAX = 100;

const BASE = "/api/projects/{project_id}";

export function compareQuery(projectId: string, from: string, to: string) {
  return partsQuery(["compare", projectId, from, to], (part, signal) =>
    client.GET(`${BASE}/compare`, {
      params: { path: { project_id: projectId }, query: { from, to, ...part } },
      signal,
    }),
  );
}

function copyFlags(projectId: string, body: CopyBody) {
  return ask(client.POST(`${BASE}/copy`, { params: { path: { project_id: projectId } }, body }));
}

/** What a copy would alter now. A dialog that closes asks for nothing: no flag is chosen any more. */
export function copyPreviewQuery(projectId: string, body: CopyBody, isAsked: boolean) {
  return queryOptions({
    queryKey: ["copy", projectId, body],
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
    onSuccess: () => cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "copy" }),
  });
}
