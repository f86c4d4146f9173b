/** The SDK keys of a project's environments. */

import { useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "../../api/changes";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";
import { ifMatch, loadState, type State, type Tagged } from "../../api/states";

type Schemas = components["schemas"];
export type SdkKey = Schemas["SdkKeyOut"];
export type CreatedSdkKey = Schemas["CreatedSdkKeyOut"];
export type NewSdkKey = Schemas["NewSdkKey"];

type SdkKeyUpdate = Pick<Schemas["SdkKeyUpdate"], "name" | "allowed_origins">;

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

export function useUpdateSdkKey(projectId: string, id: string) {
  return useMutation({
    mutationFn: ({ tag, ...body }: Partial<SdkKeyUpdate> & Tagged) =>
      ask(client.PUT(`${KEYS}/{key_id}`, { params: at(projectId, id), body, ...ifMatch(tag) })),
    onSettled: useRefresh(projectId),
  });
}

/** The key with its tag, which lists do not have. */
export function loadSdkKey(projectId: string, id: string): Promise<State> {
  return loadState(client.GET(`${KEYS}/{key_id}`, { params: at(projectId, id) }));
}

export function useRevokeSdkKey(projectId: string) {
  return useMutation({
    mutationFn: (id: string) => ask<unknown>(client.DELETE(`${KEYS}/{key_id}`, { params: at(projectId, id) })),
    onSettled: useRefresh(projectId),
  });
}

function at(projectId: string, id: string) {
  return { path: { project_id: projectId, key_id: id } };
}

function useRefresh(projectId: string) {
  return useOutdating(sdkKeysQuery(projectId), projectChangesQuery(projectId, "sdk_key"));
}
