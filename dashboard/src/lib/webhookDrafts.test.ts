import { describe, expect, it } from "vitest";
import type { Webhook } from "../api/webhooks";
import { draftOf, EVENTS, hostOf, NEW_WEBHOOK, webhookOf } from "./webhookDrafts";

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
