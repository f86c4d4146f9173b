import { describe, expect, it } from "vitest";
import type { Webhook } from "./webhooksCalls";
import { draftOf, EVENTS, eventsOf, filterOf, hostOf, NEW_WEBHOOK, webhookOf } from "./webhookDrafts";

const WEBHOOK: Webhook = {
  id: "1",
  project_id: "2",
  url: "https://hooks.example.com/T0/s3cret",
  events: ["flag.*"],
  environments: null,
  tags: ["payments"],
  format: "slack",
  description: null,
  enabled: true,
  disabled_reason: null,
  owner_id: null,
  created_at: "2026-11-20T10:00:00Z",
  updated_at: "2026-11-20T10:00:00Z",
  waiting: 0,
  waiting_since: null,
  dropped: 0,
  last_attempt_at: null,
  last_status: null,
  last_error: null,
};

describe("webhookOf", () => {
  it("sends null for what is empty", () => {
    expect(webhookOf({ ...NEW_WEBHOOK, url: "https://a.example" })).toMatchObject({
      environments: null,
      tags: null,
      description: null,
    });
  });

  it("sends what an edited webhook had", () => {
    expect(webhookOf(draftOf(WEBHOOK))).toMatchObject({ tags: ["payments"], environments: null, format: "slack" });
  });
});

describe("hostOf", () => {
  it("shows nothing that may be secret", () => {
    expect(hostOf(WEBHOOK)).toBe("hooks.example.com");
  });

  it("shows what is not a URL as it is", () => {
    expect(hostOf({ url: "?" })).toBe("?");
  });
});

it("proposes each type once", () => {
  expect(new Set(EVENTS).size).toBe(EVENTS.length);
});

describe("eventsOf", () => {
  it("proposes to a project only what its webhooks are sent", () => {
    expect(eventsOf("1")).toEqual([...EVENTS]);
  });

  it("proposes each type once to the instance, and its own besides", () => {
    expect(eventsOf(null)).toEqual(expect.arrayContaining(["flag.*", "account.*", "instance.lagging"]));
    expect(new Set(eventsOf(null)).size).toBe(eventsOf(null).length);
  });
});

describe("filterOf", () => {
  it("has what decides about messages, and neither the address nor the description", () => {
    expect(filterOf({ ...NEW_WEBHOOK, url: "https://a.example", tags: ["payments"], description: "x" })).toEqual({
      events: NEW_WEBHOOK.events,
      environments: null,
      tags: ["payments"],
      format: "standard",
    });
  });
});
