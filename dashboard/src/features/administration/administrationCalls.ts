/** The instance, its accounts and its projects, for its administrators. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import type { Role } from "../../api/members";
import { ownAccountQuery } from "../identity/ownAccountCalls";
import { readParts } from "../../api/pagedReads";
import { ask } from "../../api/problem";
import { projectsQuery } from "../../api/projects";
import type { components } from "../../api/schema";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import { CHANGES } from "../../api/changed";
import { allOf, type Keyed, useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

type Schemas = components["schemas"];
export type AdministeredAccount = Schemas["AdministeredAccountOut"];
export type AccountDetails = Schemas["AccountDetailsOut"];
export type AccountUpdate = Schemas["AccountUpdate"];
export type AdministeredProject = Schemas["AdministeredProjectOut"];
export type DeletedProject = Schemas["DeletedProjectOut"];
export type Instance = Schemas["InstanceOut"];
export type InstanceSettings = Schemas["InstanceSettingsOut"];
export type InstanceSettingsUpdate = Schemas["InstanceSettingsUpdate"];

const ACCOUNTS = "/api/admin/accounts";
const ACCOUNT = `${ACCOUNTS}/{account_id}` as const;
const PROJECTS = "/api/admin/projects";
const DELETED = "/api/admin/deleted-projects";
const INSTANCE = "/api/admin/instance";
const SETTINGS = "/api/admin/settings";
const ALL = [ACCOUNTS, ACCOUNT, PROJECTS, DELETED, INSTANCE, SETTINGS, "/api/instances"] as const;

/** The accounts whose address contains a text. */
export function accountsQuery(email: string) {
  return readParts(ACCOUNTS, {}, email ? { email } : {});
}

export function accountQuery(accountId: string) {
  return read(ACCOUNT, { account_id: accountId });
}

/** The projects of all accounts whose name contains a text. */
export function allProjectsQuery(name: string) {
  return readParts(PROJECTS, {}, name ? { name } : {});
}

/** The deleted projects whose audit trail is kept. */
export const deletedProjectsQuery = readParts(DELETED);

/** Orders to delete the audit trail of a deleted project at once. */
export function useDeleteTrail({ id, name }: DeletedProject) {
  return useMutation({
    mutationFn: () =>
      ask(
        client.POST(`${DELETED}/{deleted_project_id}/trail-deletion`, {
          params: { path: { deleted_project_id: id } },
          body: { name },
        }),
      ),
    onSettled: useRefresh(),
  });
}

export const instanceQuery = read(INSTANCE);

export const instanceSettingsQuery = read(SETTINGS);

/** Changes an account, unless its state differs from the one that was shown. */
export function useUpdateAccount(account: AdministeredAccount) {
  const params = { path: { account_id: account.id } };
  return useMutation({
    mutationFn: (body: AccountUpdate) =>
      saveShown(
        () => client.GET(ACCOUNT, { params }),
        account,
        body,
        (tag) => ask(client.PUT(ACCOUNT, { params, body, ...ifMatch(tag) })),
      ),
    onSettled: useRefresh(),
  });
}

/** Deletes an account, unless its state differs from the one that was shown. */
export function useDeleteAccount(accountId: string) {
  const params = { path: { account_id: accountId } };
  return useMutation({
    mutationFn: (tag: string | null) => ask(client.DELETE(ACCOUNT, { params, ...ifMatch(tag) })),
    onSettled: useRefresh(),
  });
}

export function useEndAccountSession(accountId: string) {
  return useMutation({
    mutationFn: (id: string) =>
      ask(
        client.DELETE(`${ACCOUNT}/sessions/{session_id}`, {
          params: { path: { account_id: accountId, session_id: id } },
        }),
      ),
    onSettled: useRefresh(),
  });
}

export function useJoinProject(projectId: string) {
  return useMutation({
    mutationFn: ({ role }: { role: Role }) =>
      ask(client.POST("/api/admin/memberships", { body: { project_id: projectId, role } })),
    onSettled: useRefresh(projectsQuery),
  });
}

/** Changes settings, unless their state differs from the one that was shown. */
export function useUpdateInstanceSettings() {
  return useMutation({
    mutationFn: ({ shown, body }: Record<"shown" | "body", InstanceSettingsUpdate>) =>
      saveShown(
        () => client.GET(SETTINGS),
        shown,
        body,
        (tag) => ask(client.PUT(SETTINGS, { body, ...ifMatch(tag) })),
      ),
    onSettled: useRefresh(),
  });
}

function useRefresh(...more: readonly Keyed[]) {
  return useOutdating(...allOf(ALL), ownAccountQuery, ...allOf(CHANGES), ...more);
}
