/** The SDK keys of a project's environments. */

import { useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "./changes";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { useOutdating } from "./queryKeys";
import { read } from "./reads";

type Schemas = components["schemas"];
export type SdkKey = Schemas["SdkKeyOut"];
export type CreatedSdkKey = Schemas["CreatedSdkKeyOut"];
export type NewSdkKey = Schemas["NewSdkKey"];

const KEYS = "/api/projects/{project_id}/sdk-keys";

export function sdkKeysQuery(projectId: string) {
  return read(KEYS, { project_id: projectId });
}

export function useCreateSdkKey(projectId: string) {
  return useMutation({
    mutationFn: (body: NewSdkKey) => ask(client.POST(KEYS, { params: { path: { project_id: projectId } }, body })),
    onSettled: useRefresh(projectId),
    gcTime: 0, // the secret is shown once, and not kept
  });
}

export function useRevokeSdkKey(projectId: string) {
  return useMutation({
    mutationFn: (id: string) =>
      ask<unknown>(client.DELETE(`${KEYS}/{key_id}`, { params: { path: { project_id: projectId, key_id: id } } })),
    onSettled: useRefresh(projectId),
  });
}

function useRefresh(projectId: string) {
  return useOutdating(sdkKeysQuery(projectId), projectChangesQuery(projectId, "sdk_key"));
}
