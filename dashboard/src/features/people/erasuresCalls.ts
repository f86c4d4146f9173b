/** Erasures of users of a project's applications: a preview with its confirmation, the order, and how far each has come. */

import { useMutation } from "@tanstack/react-query";
import { CHANGES } from "../../api/changed";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import { allOf, useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type Erasure = Schemas["ErasureOut"];
export type ErasurePreview = Schemas["ErasurePreviewOut"];
export type NamedBy = Schemas["NamedByOut"];

/** The user: an id, an email or both. */
export interface ErasedUser {
  readonly user_id: string | null;
  readonly user_email: string | null;
}

const ERASURES = "/api/projects/{project_id}/erasures";

export function erasuresQuery(projectId: string) {
  return read(ERASURES, { project_id: projectId });
}

export function usePreviewErasure(projectId: string) {
  const params = { path: { project_id: projectId } };
  return useMutation({
    mutationFn: (body: ErasedUser) => ask(client.POST(`${ERASURES}/preview`, { params, body })),
  });
}

export function useErase(projectId: string) {
  const params = { path: { project_id: projectId } };
  return useMutation({
    mutationFn: (body: ErasedUser & { confirmation: string }) => ask(client.POST(ERASURES, { params, body })),
    onSettled: useOutdating(...allOf([ERASURES], params.path), ...allOf(CHANGES)),
  });
}
