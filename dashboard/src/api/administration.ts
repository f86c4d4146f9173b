/** The instance, its accounts and its projects, for its administrators. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import type { Role } from "./members";
import { ownAccountQuery } from "./ownAccount";
import { partsQuery } from "./parts";
import { ask } from "./problem";
import { projectsQuery } from "./projects";
import type { components } from "./schema";
import { saveShown } from "./shown";
import { ifMatch } from "./states";

type Schemas = components["schemas"];
export type AdministeredAccount = Schemas["AdministeredAccountOut"];
export type AccountDetails = Schemas["AccountDetailsOut"];
export type AccountUpdate = Schemas["AccountUpdate"];
export type AdministeredProject = Schemas["AdministeredProjectOut"];
export type Instance = Schemas["InstanceOut"];
export type InstanceSettings = Schemas["InstanceSettingsOut"];
export type InstanceSettingsUpdate = Schemas["InstanceSettingsUpdate"];

const ALL = "administration";
const SETTINGS = "/api/admin/settings";
const ACCOUNT = "/api/admin/accounts/{account_id}";

/** The accounts whose address contains a text. */
export function accountsQuery(email: string) {
  return partsQuery([ALL, "accounts", email], (part, signal) =>
    client.GET("/api/admin/accounts", { params: { query: { ...part, ...(email && { email }) } }, signal }),
  );
}

export function accountQuery(accountId: string) {
  return queryOptions({
    queryKey: [ALL, "account", accountId],
    queryFn: ({ signal }) => ask(client.GET(ACCOUNT, { params: { path: { account_id: accountId } }, signal })),
  });
}

/** The projects of all accounts whose name contains a text. */
export function allProjectsQuery(name: string) {
  return partsQuery([ALL, "projects", name], (part, signal) =>
    client.GET("/api/admin/projects", { params: { query: { ...part, ...(name && { name }) } }, signal }),
  );
}

export const instanceQuery = queryOptions({
  queryKey: [ALL, "instance"],
  queryFn: ({ signal }) => ask(client.GET("/api/admin/instance", { signal })),
});

export const instanceSettingsQuery = queryOptions({
  queryKey: [ALL, "settings"],
  queryFn: ({ signal }) => ask(client.GET(SETTINGS, { signal })),
});

/** Changes an account, which is given as it was shown. */
export function useUpdateAccount(account: AdministeredAccount) {
  const refresh = useRefresh();
  const params = { path: { account_id: account.id } };
  return useMutation({
    mutationFn: (body: AccountUpdate) =>
      saveShown(
        () => client.GET(ACCOUNT, { params }),
        account,
        body,
        (tag) => ask(client.PUT(ACCOUNT, { params, body, ...ifMatch(tag) })),
      ),
    onSettled: refresh,
  });
}

export function useEndAccountSession(accountId: string) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) =>
      ask(
        client.DELETE("/api/admin/accounts/{account_id}/sessions/{session_id}", {
          params: { path: { account_id: accountId, session_id: id } },
        }),
      ),
    onSettled: refresh,
  });
}

export function useJoinProject(projectId: string) {
  const cache = useQueryClient();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ role }: { role: Role }) =>
      ask(client.POST("/api/admin/memberships", { body: { project_id: projectId, role } })),
    onSettled: () => Promise.all([refresh(), cache.invalidateQueries({ queryKey: projectsQuery.queryKey })]),
  });
}

/** Changes settings, of which those that change are given as they were shown. */
export function useUpdateInstanceSettings() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ shown, body }: Record<"shown" | "body", InstanceSettingsUpdate>) =>
      saveShown(
        () => client.GET(SETTINGS),
        shown,
        body,
        (tag) => ask(client.PUT(SETTINGS, { body, ...ifMatch(tag) })),
      ),
    onSettled: refresh,
  });
}

function useRefresh() {
  const cache = useQueryClient();
  return () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: [ALL] }),
      cache.invalidateQueries({ queryKey: ownAccountQuery.queryKey }),
      cache.invalidateQueries({ queryKey: ["changes"] }),
    ]);
}
