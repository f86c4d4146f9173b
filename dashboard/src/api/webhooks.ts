/** The webhooks of a project, and the messages that they were sent. */

import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { projectChangesQuery } from "./changes";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { ifMatch, type Tagged } from "./states";

type Schemas = components["schemas"];
export type Webhook = Schemas["WebhookOut"];
export type WebhookWithSecret = Schemas["WebhookWithSecretOut"];
export type NewWebhook = Schemas["NewWebhook"];
export type Delivery = Schemas["DeliveryOut"];

const HOOKS = "/api/projects/{project_id}/webhooks";
const HOOK = `${HOOKS}/{webhook_id}` as const;
const LOOK_MILLISECONDS = 5_000;
const PAGE = { limit: 20 };

export function webhooksQuery(projectId: string) {
  return queryOptions({
    queryKey: ["webhooks", projectId],
    queryFn: ({ signal }) => ask(client.GET(HOOKS, { params: { path: { project_id: projectId } }, signal })),
    refetchInterval: LOOK_MILLISECONDS, // how each fares changes by itself
  });
}

/** The messages to a webhook, newest first. */
export function deliveriesQuery({ project_id: projectId, id }: Webhook) {
  return infiniteQueryOptions({
    queryKey: ["webhooks", projectId, id, "deliveries"],
    queryFn: ({ pageParam: cursor, signal }) => {
      const path = { project_id: projectId ?? "", webhook_id: id };
      const query = { ...PAGE, ...(cursor !== null && { cursor }) };
      return ask(client.GET(`${HOOK}/deliveries`, { params: { path, query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: LOOK_MILLISECONDS,
  });
}

export function useCreateWebhook(projectId: string) {
  return useMutation({
    mutationFn: (body: NewWebhook) => ask(client.POST(HOOKS, { params: { path: { project_id: projectId } }, body })),
    onSettled: useRefresh(projectId),
    gcTime: 0, // the secret is shown once, and not kept
  });
}

export function useUpdateWebhook(projectId: string) {
  return useMutation({
    mutationFn: ({ id, tag, ...body }: Partial<NewWebhook> & Tagged & { id: string }) =>
      ask(client.PUT(HOOK, { params: { path: at(projectId, id) }, body, ...ifMatch(tag) })),
    onSettled: useRefresh(projectId),
  });
}

export function useDeleteWebhook(projectId: string) {
  return useMutation({
    mutationFn: ({ id, tag }: Tagged & { id: string }) =>
      ask<unknown>(client.DELETE(HOOK, { params: { path: at(projectId, id) }, ...ifMatch(tag) })),
    onSettled: useRefresh(projectId),
  });
}

export function useRotateSecret(projectId: string) {
  return useMutation({
    mutationFn: (id: string) => ask(client.POST(`${HOOK}/rotate-secret`, { params: { path: at(projectId, id) } })),
    onSettled: useRefresh(projectId),
    gcTime: 0,
  });
}

export function useTestWebhook(projectId: string) {
  return useMutation({
    mutationFn: (id: string) => ask(client.POST(`${HOOK}/test`, { params: { path: at(projectId, id) } })),
    onSettled: useRefresh(projectId),
  });
}

export function useRepeatDelivery(projectId: string, webhookId: string) {
  return useMutation({
    mutationFn: (deliveryId: string) => {
      const path = { ...at(projectId, webhookId), delivery_id: deliveryId };
      return ask(client.POST(`${HOOK}/deliveries/{delivery_id}/repeat`, { params: { path } }));
    },
    onSettled: useRefresh(projectId),
  });
}

function at(projectId: string, webhookId: string) {
  return { project_id: projectId, webhook_id: webhookId };
}

function useRefresh(projectId: string) {
  const cache = useQueryClient();
  return () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: webhooksQuery(projectId).queryKey }),
      cache.invalidateQueries({ queryKey: projectChangesQuery(projectId, "webhook").queryKey }),
    ]);
}
