/** The mails that the signed-in account gets about its projects, and the links that stop them. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { useOutdating } from "../../api/queryKeys";

export type Notifications = components["schemas"]["NotificationsOfProjectOut"];
export type NotificationKind = Exclude<keyof Notifications, "project_id" | "project">;

export const notificationsQuery = read("/api/me/notifications");

interface Choice {
  readonly projectId: string;
  readonly kind: NotificationKind;
  readonly wanted: boolean;
}

export function useChooseNotification() {
  return useMutation({
    mutationFn: ({ projectId, kind, wanted }: Choice) => {
      const params = { path: { project_id: projectId } };
      return ask(client.PUT("/api/projects/{project_id}/notifications", { params, body: { [kind]: wanted } }));
    },
    onSettled: useOutdating(notificationsQuery),
  });
}

export function useUnsubscribe() {
  return useMutation({
    mutationFn: (token: string) => ask<unknown>(client.POST("/auth/unsubscribe", { params: { query: { token } } })),
  });
}
