/** Segments of a project, which rules of flags in all its environments can refer to. */

import { useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "../../api/changes";
import { client, type NewSegment } from "../../api/client";
import { ask } from "../../api/problem";
import { ifMatch, type Tagged } from "../../api/states";
import { useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

export const BASE = "/api/projects/{project_id}/segments";

export function segmentsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

/** The flags with a rule for a segment, by environment. */
export function segmentUsesQuery(projectId: string, segmentId: string) {
  const ids = { project_id: projectId, segment_id: segmentId };
  return { ...read(`${BASE}/{segment_id}/flags`, ids), staleTime: 0 };
}

export function useCreateSegment(projectId: string) {
  return useMutation({
    mutationFn: (body: NewSegment) => ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSuccess: useRefresh(projectId),
  });
}

export function useUpdateSegment(projectId: string, segmentId: string) {
  return useMutation({
    mutationFn: ({ tag, ...body }: Partial<Omit<NewSegment, "key">> & Tagged) =>
      ask(client.PUT(`${BASE}/{segment_id}`, { params: at(projectId, segmentId), body, ...ifMatch(tag) })),
    meta: { done: "changed" },
    onSuccess: useRefresh(projectId),
  });
}

export function useDeleteSegment(projectId: string, segmentId: string, name: string) {
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask(client.DELETE(`${BASE}/{segment_id}`, { params: at(projectId, segmentId), ...ifMatch(tag) })),
    meta: { done: "deleted", name },
    onSuccess: useRefresh(projectId),
  });
}

function at(projectId: string, segmentId: string) {
  return { path: { project_id: projectId, segment_id: segmentId } };
}

function useRefresh(projectId: string) {
  return useOutdating(segmentsQuery(projectId), projectChangesQuery(projectId, "segment"));
}
