/** Members of a project, their roles, and what the signed-in account may do. */

import { queryOptions, useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "./changes";
import { client } from "./client";
import { ask } from "./problem";
import { projectInFullQuery, projectsQuery } from "./projects";
import { ifMatch, loadState, type State, type Tagged } from "./states";
import type { components } from "./schema";
import { useOutdating } from "./queryKeys";
import { read } from "./reads";

type Schemas = components["schemas"];
export type Member = Schemas["MemberOut"];
export type Role = Member["role"];
export type Permission = Schemas["Permission"];
export type { OwnPermissions } from "./projects";
/** The role in the project, and those in single environments by their keys. */
export type Roles = Pick<Member, "role" | "environments">;

const REFRESH_MILLISECONDS = 30_000;
const BASE = "/api/projects/{project_id}/members";

export function membersQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

export function permissionsQuery(projectId: string) {
  return queryOptions({
    ...projectInFullQuery(projectId),
    select: ({ permissions }) => permissions,
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

export function useUpdateMember(projectId: string) {
  return useMutation({
    mutationFn: ({ accountId, tag, ...body }: Partial<Roles> & Tagged & { accountId: string }) =>
      update(projectId, accountId, body, tag),
    onSettled: useRefresh(projectId),
  });
}

/** Makes another member an owner, and then this account an admin, so that the project has an owner at any moment. */
export function useTransferOwnership(projectId: string) {
  return useMutation({
    mutationFn: async ({ from, to }: { from: string; to: string }) => {
      await update(projectId, to, { role: "owner", environments: {} });
      await update(projectId, from, { role: "admin", environments: {} });
    },
    onSettled: useRefresh(projectId),
  });
}

export function useRemoveMember(projectId: string) {
  const leave = useOutdating(projectsQuery);
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: ({ accountId, tag }: { accountId: string; leaves: boolean } & Tagged) =>
      ask(client.DELETE(`${BASE}/{account_id}`, { params: at(projectId, accountId), ...ifMatch(tag) })),
    onSuccess: (_, { leaves }) => (leaves ? leave() : refresh()),
  });
}

/** The member with its tag, which lists do not have. */
export function loadMember(projectId: string, accountId: string): Promise<State> {
  return loadState(client.GET(`${BASE}/{account_id}`, { params: at(projectId, accountId) }));
}

function update(projectId: string, accountId: string, body: Partial<Roles>, tag?: string | null) {
  return ask(client.PUT(`${BASE}/{account_id}`, { params: at(projectId, accountId), body, ...ifMatch(tag) }));
}

function at(projectId: string, accountId: string) {
  return { path: { project_id: projectId, account_id: accountId } };
}

function useRefresh(projectId: string) {
  return useOutdating(membersQuery(projectId), permissionsQuery(projectId), projectChangesQuery(projectId, "member"));
}
