/** The subscriptions of the signed-in account. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { notificationsQuery } from "./notifications";
import { ask } from "./problem";
import type { components } from "./schema";

export type Subscription = components["schemas"]["SubscriptionOut"];
export type NewSubscription = components["schemas"]["NewSubscription"];

const BASE = "/api/projects/{project_id}/subscriptions";

export const allSubscriptionsQuery = queryOptions({
  queryKey: ["subscriptions"],
  queryFn: ({ signal }) => ask(client.GET("/api/me/subscriptions", { signal })),
});

export function subscriptionsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["subscriptions", projectId],
    queryFn: ({ signal }) => ask(client.GET(BASE, { params: { path: { project_id: projectId } }, signal })),
  });
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
  const cache = useQueryClient();
  return () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: allSubscriptionsQuery.queryKey }),
      cache.invalidateQueries({ queryKey: notificationsQuery.queryKey }),
    ]);
}
