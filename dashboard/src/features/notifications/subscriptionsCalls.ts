/** The subscriptions of the signed-in account. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { notificationsQuery } from "./notificationsCalls";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { allOf, useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type Subscription = components["schemas"]["SubscriptionOut"];
export type NewSubscription = components["schemas"]["NewSubscription"];

const ALL = "/api/me/subscriptions";
const BASE = "/api/projects/{project_id}/subscriptions";

export const allSubscriptionsQuery = read(ALL);

export function subscriptionsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

export function useSubscribe(projectId: string) {
  return useMutation({
    mutationFn: (body: NewSubscription) =>
      ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSettled: useRefresh(),
  });
}

export function useUnsubscribeFrom() {
  return useMutation({
    mutationFn: ({ project_id, id }: Subscription) =>
      ask(client.DELETE(`${BASE}/{subscription_id}`, { params: { path: { project_id, subscription_id: id } } })),
    onSettled: useRefresh(),
  });
}

function useRefresh() {
  return useOutdating(...allOf([ALL, BASE]), notificationsQuery);
}
