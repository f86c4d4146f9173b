// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closeDraft, findDraft, forgetDrafts, keepDraft } from "./drafts";
import { startSession } from "../../api/session";

const draft = (values: unknown, at = Date.now()) => ({ base: null, values, at, isOpen: true });
const signIn = (email: string) => startSession({ token: `token of ${email}`, email });

beforeEach(() => {
  sessionStorage.clear();
  signIn("ada@example.com");
});
afterEach(() => vi.useRealTimers());

it("is found until it is a day old", () => {
  vi.useFakeTimers();
  keepDraft("flag 1", draft({ name: "A" }));
  expect(findDraft("flag 1")?.values).toEqual({ name: "A" });
  expect(findDraft("flag 2")).toBeNull();
  vi.advanceTimersByTime(25 * 3_600_000);
  expect(findDraft("flag 1")).toBeNull();
});

it("is not shown to another account", () => {
  keepDraft("flag 1", draft("secret plan"));
  signIn("eve@example.com");
  expect(findDraft("flag 1")).toBeNull();
  signIn("Ada@example.com");
  expect(findDraft("flag 1")?.values).toBe("secret plan");
});

it("is not kept if it is too large, and then the one before is not, either", () => {
  expect(keepDraft("flag 1", draft("small"))).toBe(true);
  expect(keepDraft("flag 1", draft("x".repeat(300_000)))).toBe(false);
  expect(findDraft("flag 1")).toBeNull();
});

it("makes room by forgetting the oldest ones", () => {
  const now = Date.now();
  for (let place = 0; place < 25; place += 1) keepDraft(`flag ${place}`, draft(place, now - 1000 + place));
  expect(Object.keys(sessionStorage)).toHaveLength(20);
  expect(findDraft("flag 0")).toBeNull();
  expect(findDraft("flag 24")?.values).toBe(24);
});

it("does not open its form by itself after the form was closed", () => {
  keepDraft("flag 1", draft("typed"));
  closeDraft("flag 1");
  expect(findDraft("flag 1")).toMatchObject({ values: "typed", isOpen: false });
});

it("is gone after signing out", () => {
  keepDraft("flag 1", draft("typed"));
  sessionStorage.setItem("other", "kept");
  forgetDrafts();
  expect(Object.keys(sessionStorage)).toEqual(["other"]);
});
