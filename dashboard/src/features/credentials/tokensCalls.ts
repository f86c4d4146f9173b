/** Access tokens: those of the signed-in account, or those for a project. */

import { queryOptions, useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "../../api/changes";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf, useOutdating } from "../../api/queryKeys";

type Schemas = components["schemas"];
export type AccessToken = Schemas["AccessTokenOut"];
export type CreatedToken = Schemas["CreatedTokenOut"];
export type NewToken = Schemas["NewToken"];

const OWN = "/api/me/tokens";
const OF_PROJECT = "/api/projects/{project_id}/tokens";

/** The tokens for a project; without one, the account's personal tokens. */
export function tokensQuery(projectId: string | null) {
  return queryOptions({
    queryKey: projectId === null ? keyOf(OWN) : keyOf(OF_PROJECT, { project_id: projectId }),
    queryFn: ({ signal }) =>
      ask(projectId === null ? client.GET(OWN, { signal }) : client.GET(OF_PROJECT, { params: at(projectId), signal })),
  });
}

export function useCreateToken(projectId: string | null) {
  return useMutation({
    mutationFn: (body: NewToken) =>
      ask(projectId === null ? client.POST(OWN, { body }) : client.POST(OF_PROJECT, { params: at(projectId), body })),
    onSettled: useRefresh(projectId),
    gcTime: 0, // the secret is shown once, and not kept
  });
}

export function useRevokeToken(projectId: string | null) {
  return useMutation({
    mutationFn: (id: string) =>
      ask<unknown>(
        projectId === null
          ? client.DELETE(`${OWN}/{token_id}`, { params: { path: { token_id: id } } })
          : client.DELETE(`${OF_PROJECT}/{token_id}`, { params: { path: { project_id: projectId, token_id: id } } }),
      ),
    onSettled: useRefresh(projectId),
  });
}

function at(projectId: string) {
  return { path: { project_id: projectId } };
}

function useRefresh(projectId: string | null) {
  return useOutdating(tokensQuery(projectId), ...(projectId === null ? [] : [projectChangesQuery(projectId, "token")]));
}
