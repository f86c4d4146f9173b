/** The webhooks of a project or of the whole instance, and the messages that they were sent. */

import { queryOptions, useMutation } from "@tanstack/react-query";
import { projectChangesQuery } from "../../api/changes";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { ifMatch, type Tagged } from "../../api/states";
import { read } from "../../api/reads";
import { allOf, keyOf, useOutdating } from "../../api/queryKeys";
import { readPages } from "../../api/pagedReads";

type Schemas = components["schemas"];
export type Webhook = Schemas["WebhookOut"];
export type WebhookWithSecret = Schemas["WebhookWithSecretOut"];
export type NewWebhook = Schemas["NewWebhook"];
export type WebhookFilter = Schemas["WebhookFilter"];
export type Delivery = Schemas["DeliveryOut"];
export type DeliveryState = Delivery["state"];

/** Where webhooks are: in a project, by its id, or, with null, in the whole instance. */
export type Place = string | null;

const HOOKS = "/api/projects/{project_id}/webhooks";
const HOOK = `${HOOKS}/{webhook_id}` as const;
const DELIVERIES = `${HOOK}/deliveries` as const;
const DELIVERY = `${DELIVERIES}/{delivery_id}` as const;
const PREVIEW = `${HOOKS}/preview` as const;
const ALL = [HOOKS, DELIVERIES, DELIVERY, PREVIEW] as const;
/** The instance has the same operations, at other paths. */
function at<Path extends string>(place: Place, path: Path): Path {
  return place === null ? (path.replace("/api/projects/{project_id}", "/api/admin") as Path) : path;
}

const LOOK_MILLISECONDS = 5_000;

export function webhooksQuery(place: Place) {
  return {
    ...read(at(place, HOOKS), ids(place)),
    refetchInterval: LOOK_MILLISECONDS, // the state of deliveries changes by itself
  };
}

/** The messages to a webhook, newest first; in one state, or all. */
export function deliveriesQuery({ project_id: place, id }: Webhook, state: DeliveryState | null) {
  const query = { limit: 20, ...(state !== null && { state }) };
  return { ...readPages(at(place, DELIVERIES), ids(place, id), query), refetchInterval: LOOK_MILLISECONDS };
}

/** One message, with its body. */
export function deliveryQuery(place: Place, webhookId: string, deliveryId: string) {
  return read(at(place, DELIVERY), { ...ids(place, webhookId), delivery_id: deliveryId });
}

/** The changes of the last day that would have been sent. */
export function previewQuery(place: Place, body: WebhookFilter) {
  return queryOptions({
    queryKey: keyOf(at(place, PREVIEW), ids(place), body),
    queryFn: ({ signal }) => ask(client.POST(at(place, PREVIEW), { params: { path: ids(place) }, body, signal })),
    gcTime: 0,
    retry: false,
  });
}

export function useCreateWebhook(place: Place) {
  return useMutation({
    mutationFn: (body: NewWebhook) => ask(client.POST(at(place, HOOKS), { params: { path: ids(place) }, body })),
    onSettled: useRefresh(place),
    gcTime: 0, // the secret is shown once, and not kept
  });
}

export function useUpdateWebhook(place: Place) {
  return useMutation({
    mutationFn: ({ id, tag, ...body }: Partial<NewWebhook> & Tagged & { id: string }) =>
      ask(client.PUT(at(place, HOOK), { params: { path: ids(place, id) }, body, ...ifMatch(tag) })),
    onSettled: useRefresh(place),
  });
}

export function useDeleteWebhook(place: Place) {
  return useMutation({
    mutationFn: ({ id, tag }: Tagged & { id: string }) =>
      ask<unknown>(client.DELETE(at(place, HOOK), { params: { path: ids(place, id) }, ...ifMatch(tag) })),
    onSettled: useRefresh(place),
  });
}

export function useRotateSecret(place: Place) {
  return useMutation({
    mutationFn: (id: string) =>
      ask(client.POST(at(place, `${HOOK}/rotate-secret`), { params: { path: ids(place, id) } })),
    onSettled: useRefresh(place),
    gcTime: 0,
  });
}

export function useTestWebhook(place: Place) {
  return useMutation({
    mutationFn: (id: string) => ask(client.POST(at(place, `${HOOK}/test`), { params: { path: ids(place, id) } })),
    onSettled: useRefresh(place),
  });
}

export function useRepeatDelivery(place: Place, webhookId: string) {
  return useMutation({
    mutationFn: (deliveryId: string) => {
      const path = { ...ids(place, webhookId), delivery_id: deliveryId };
      return ask(client.POST(at(place, `${DELIVERY}/repeat`), { params: { path } }));
    },
    onSettled: useRefresh(place),
  });
}

function ids(place: Place, webhookId = "") {
  return { project_id: place ?? "", webhook_id: webhookId };
}

function useRefresh(place: Place) {
  const all = ALL.map((path) => at(place, path));
  return useOutdating(
    ...allOf(all, { project_id: place }),
    ...(place === null ? [] : [projectChangesQuery(place, "webhook")]),
  );
}
