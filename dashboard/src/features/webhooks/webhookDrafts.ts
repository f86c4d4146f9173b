/** The values of the form of a webhook, and the body that is sent. */

import type { NewWebhook, Place, Webhook, WebhookFilter } from "./webhooksCalls";

export interface WebhookDraft {
  readonly url: string;
  readonly format: Webhook["format"];
  readonly events: string[];
  readonly environments: string[];
  readonly tags: string[];
  readonly description: string;
}

export const NEW_WEBHOOK: WebhookDraft = {
  url: "",
  format: "standard",
  events: ["flag.*", "rule.*", "segment.*"],
  environments: [],
  tags: [],
  description: "",
};

/** All types of a project, which the form proposes; the server says which it knows. */
export const EVENTS: readonly string[] = [
  "*",
  ...Object.entries({
    flag: ["toggled", "created", "updated", "archived", "unarchived", "deleted", "stale", "missing"],
    rule: ["created", "updated", "deleted"],
    segment: ["created", "updated", "deleted"],
    metric: ["created", "updated", "deleted"],
    release: [
      "created",
      "step_applied",
      "step_skipped",
      "paused",
      "resumed",
      "cancelled",
      "warned",
      "unwatched",
      "watched",
      "stopped",
      "failed",
      "done",
    ],
    environment: ["created", "updated", "deleted"],
    project: ["updated", "key_regenerated"],
    sdk_key: ["created", "updated", "revoked"],
    member: ["added", "updated", "removed", "joined"],
    invitation: ["created", "sent", "accepted", "deleted"],
    token: ["created", "deleted"],
    view: ["created", "updated", "deleted"],
    webhook: ["created", "updated", "secret_rotated", "disabled", "deleted"],
  }).flatMap(([kind, verbs]) => [`${kind}.*`, ...verbs.map((verb) => `${kind}.${verb}`)]),
];

/** Those of the whole instance, besides. */
const INSTANCE_EVENTS: readonly string[] = [
  "account.*",
  "instance.*",
  "instance.updated",
  "instance.webhook_previewed",
  "instance.trail_deleted",
  "instance.lagging",
  "instance.recovered",
  "history.*",
  "history.behind",
  "history.recovered",
];

export function eventsOf(place: Place): string[] {
  return place === null ? [...EVENTS, ...INSTANCE_EVENTS] : [...EVENTS];
}

export function draftOf(webhook: Webhook): WebhookDraft {
  return {
    url: webhook.url,
    format: webhook.format,
    events: webhook.events,
    environments: webhook.environments ?? [],
    tags: webhook.tags ?? [],
    description: webhook.description ?? "",
  };
}

export function webhookOf({ events, environments, tags, description, ...rest }: WebhookDraft): NewWebhook {
  return {
    ...rest,
    events: events as NewWebhook["events"], // the server says which it knows
    environments: environments.length > 0 ? environments : null,
    tags: tags.length > 0 ? tags : null,
    description: description.trim() || null,
    enabled: true,
  };
}

/** The filter of a webhook, for a preview. */
export function filterOf(draft: WebhookDraft): WebhookFilter {
  const { url: _url, description: _description, enabled: _enabled, ...filter } = webhookOf(draft);
  return filter;
}

/** The part of a URL that is shown, because the rest may be secret. */
export function hostOf(webhook: Pick<Webhook, "url">): string {
  return URL.parse(webhook.url)?.host ?? webhook.url;
}
