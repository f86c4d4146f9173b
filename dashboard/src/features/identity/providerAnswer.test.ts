// @vitest-environment happy-dom

import { beforeEach, expect, it, vi } from "vitest";

const SIGN_IN = { binding: "b", returnTo: "/account", provider: "Acme" };

/** Opens a page: its address, and the modules that read it. */
async function open(address: string) {
  vi.resetModules();
  window.history.replaceState(null, "", address);
  const links = await import("./linkToken");
  return { ...links, ...(await import("./providerAnswer")) };
}

beforeEach(() => sessionStorage.clear());

it("takes an answer that this tab has asked for, once, and removes it from the address bar", async () => {
  (await open("/sign-in")).keepSignIn(SIGN_IN);
  const answer = { state: "s", code: "c", iss: "i", binding: "b", provider: "Acme" };
  const { arrival } = await open("/sso/callback?state=s&code=c&iss=i");
  expect(arrival()).toEqual({ kind: "answered", answer, returnTo: "/account" });
  expect(window.location.search).toBe("");
  expect((await open("/sso/callback?state=s&code=c&iss=i")).arrival()).toEqual({ kind: "unasked" });
});

it("keeps the provider's reason and the page to go on with", async () => {
  (await open("/sign-in")).keepSignIn(SIGN_IN);
  const { arrival } = await open("/sso/callback?error=access_denied&state=s");
  expect(arrival()).toEqual({ kind: "refused", reason: "access_denied", provider: "Acme", returnTo: "/account" });
});

it("brings back the link with which the page was opened", async () => {
  (await open("/invitation?token=t")).keepSignIn({ ...SIGN_IN, returnTo: "/invitation" });
  expect((await open("/sso/callback?state=s&code=c")).linkToken("/invitation")).toBe("t");
});

it("reads no answer on other pages, and keeps the sign-in for the one that comes", async () => {
  (await open("/sign-in")).keepSignIn(SIGN_IN);
  expect((await open("/sign-in?state=s&code=c")).arrival()).toEqual({ kind: "unasked" });
  expect((await open("/sso/callback?state=s&code=c")).arrival().kind).toBe("answered");
});
