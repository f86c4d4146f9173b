/** Invitations to projects. */

import { queryOptions, useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "../../api/changes";
import { client } from "../../api/client";
import type { Roles } from "../../api/members";
import { ask } from "../../api/problem";
import { projectsQuery } from "../../api/projects";
import type { components } from "../../api/schema";
import { keyOf, useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type OpenedInvitation = components["schemas"]["OpenedInvitationOut"];
export type Invitation = components["schemas"]["InvitationOut"];

const BASE = "/api/projects/{project_id}/invitations";

export function invitationsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

export function useInvite(projectId: string) {
  return useMutation({
    mutationFn: (body: Roles & { email: string }) =>
      ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSettled: useRefresh(projectId),
  });
}

/** Mails an invitation again. The previous link ends. */
export function useSendAgain(projectId: string) {
  return useMutation({
    mutationFn: (id: string) => ask(client.POST(`${BASE}/{invitation_id}/send`, { params: at(projectId, id) })),
    onSettled: useRefresh(projectId),
  });
}

export function useRevoke(projectId: string) {
  return useMutation({
    mutationFn: (id: string) => ask(client.DELETE(`${BASE}/{invitation_id}`, { params: at(projectId, id) })),
    onSettled: useRefresh(projectId),
  });
}

/** The invitation that a link is for. It can be read without an account. */
export function openedInvitationQuery(token: string) {
  return queryOptions({
    queryKey: keyOf("/auth/invitation", {}, token),
    queryFn: ({ signal }) => ask(client.POST("/auth/invitation", { body: { token }, signal })),
    staleTime: Infinity,
    retry: false,
  });
}

export function useAcceptInvitation() {
  return useMutation({
    mutationFn: (token: string) => ask(client.POST("/api/invitations/accept", { body: { token } })),
    onSuccess: useOutdating(projectsQuery),
  });
}

function at(projectId: string, invitationId: string) {
  return { path: { project_id: projectId, invitation_id: invitationId } };
}

function useRefresh(projectId: string) {
  return useOutdating(invitationsQuery(projectId), projectChangesQuery(projectId, "invitation"));
}
