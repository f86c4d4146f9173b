/** The mails that the signed-in account gets about its projects, and the links that stop them. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type Notifications = components["schemas"]["NotificationsOfProjectOut"];
export type NotificationKind = Exclude<keyof Notifications, "project_id" | "project">;

export const notificationsQuery = queryOptions({
  queryKey: ["notifications"],
  queryFn: ({ signal }) => ask(client.GET("/api/me/notifications", { signal })),
});

interface Choice {
  readonly projectId: string;
  readonly kind: NotificationKind;
  readonly wanted: boolean;
}

export function useChooseNotification() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ projectId, kind, wanted }: Choice) => {
      const params = { path: { project_id: projectId } };
      return ask(client.PUT("/api/projects/{project_id}/notifications", { params, body: { [kind]: wanted } }));
    },
    onSettled: () => cache.invalidateQueries({ queryKey: notificationsQuery.queryKey }),
  });
}

export function useUnsubscribe() {
  return useMutation({
    mutationFn: (token: string) => ask<unknown>(client.POST("/auth/unsubscribe", { params: { query: { token } } })),
  });
}
