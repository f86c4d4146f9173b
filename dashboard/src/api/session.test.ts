// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, it, vi } from "vitest";

const token = (exp: number) => `x.${btoa(JSON.stringify({ exp }))}.y`;
const inAnHour = () => Date.now() / 1000 + 3600;

async function load() {
  vi.resetModules();
  return import("./session");
}

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => vi.useRealTimers());

it("is null without a token or with an invalid session", async () => {
  expect((await load()).currentSession()).toBeNull();
  localStorage.setItem("flagstaff.session", "{broken");
  expect((await load()).currentSession()).toBeNull();
});

it("ends when its token does, and says so", async () => {
  const session = await load();
  const heard = vi.fn();
  session.startSession({ token: token(inAnHour()), email: "ada@example.com" });
  session.onSessionChange(heard);
  vi.advanceTimersByTime(3_700_000);
  expect(session.currentSession()).toBeNull();
  expect(session.sessionEnding()).toBe("expired");
  expect(localStorage.getItem("flagstaff.session")).toBeNull();
  expect(heard).toHaveBeenCalledOnce();
});

it("does not outlive its token in a tab that was asleep", async () => {
  localStorage.setItem("flagstaff.session", JSON.stringify({ token: token(1), email: "ada@example.com" }));
  expect((await load()).currentSession()).toBeNull();
});

it("ends here when it ends in another tab, and says so", async () => {
  const session = await load();
  session.startSession({ token: token(inAnHour()), email: "ada@example.com" });
  localStorage.removeItem("flagstaff.session");
  window.dispatchEvent(new StorageEvent("storage", { key: "flagstaff.session" }));
  expect(session.currentSession()).toBeNull();
  expect(session.sessionEnding()).toBe("elsewhere");
});

it("is interrupted while its page stays, and resumed by the same account only", async () => {
  const session = await load();
  const heard = vi.fn();
  session.keepPagesWhile(() => true);
  session.onSessionChange(heard);
  session.startSession({ token: token(inAnHour()), email: "ada@example.com" });
  session.endSession("expired");
  expect(heard).toHaveBeenLastCalledWith("interrupted");
  expect(session.interruptedSession()?.email).toBe("ada@example.com");
  const resumed = session.resumedSession();
  session.startSession({ token: token(inAnHour() + 1), email: "Ada@example.com" });
  expect(heard).toHaveBeenLastCalledWith("resumed");
  expect((await resumed)?.email).toBe("Ada@example.com");

  session.endSession("expired");
  const other = session.resumedSession();
  session.startSession({ token: token(inAnHour() + 2), email: "eve@example.com" });
  expect(heard).toHaveBeenLastCalledWith("began");
  expect(await other).toBeNull();
});

it("is not interrupted by signing out, in any tab", async () => {
  const session = await load();
  session.keepPagesWhile(() => true);
  session.startSession({ token: token(inAnHour()), email: "ada@example.com" });
  session.endSession("signed-out");
  expect(session.interruptedSession()).toBeNull();
  expect(session.wasSignedOut()).toBe(true);
});
