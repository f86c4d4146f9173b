/**
 * Signing in at an identity provider. The data of a sign-in stays in the tab that has begun it. The provider's answer
 * is read once, before anything else runs, and removed from the address bar immediately.
 */

import { pagePath, storageName } from "../../api/server";
import { type Link, openedLink, restoreLink } from "./linkToken";

export const CALLBACK_PATH = "/sso/callback";

const STORAGE_KEY = storageName("flagstaff.sign-in");

/** A sign-in that was begun in this tab: the proof of that, the page to continue with, and the provider's name. */
interface SignIn {
  readonly binding: string;
  readonly returnTo: string;
  readonly provider: string;
}

export interface ProviderAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss?: string;
  readonly binding: string;
  readonly provider: string;
}

/**
 * How the browser returned: with an answer, with the provider's reason for a refusal, or without a sign-in that was
 * begun.
 */
export type Arrival =
  | { readonly kind: "answered"; readonly answer: ProviderAnswer; readonly returnTo: string }
  | { readonly kind: "refused"; readonly reason: string; readonly provider: string; readonly returnTo: string }
  | { readonly kind: "unasked" };

const arrived = arrive();

export function arrival(): Arrival {
  return arrived;
}

/** Keeps a sign-in while the browser is at the provider, and the link in a mail with which the page was opened. */
export function keepSignIn(signIn: SignIn): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ ...signIn, link: openedLink() }));
}

function arrive(): Arrival {
  if (pagePath() !== CALLBACK_PATH) return { kind: "unasked" };
  const given = new URLSearchParams(window.location.search);
  window.history.replaceState(window.history.state, "", window.location.pathname);
  const begun = takeSignIn();
  if (begun === null) return { kind: "unasked" };
  const { binding, returnTo, provider, link } = begun;
  if (link) restoreLink(link);
  const [state, code, iss] = [given.get("state"), given.get("code"), given.get("iss")];
  if (state === null || code === null) {
    return { kind: "refused", reason: given.get("error") ?? "", provider, returnTo };
  }
  return { kind: "answered", answer: { state, code, binding, provider, ...(iss !== null && { iss }) }, returnTo };
}

function takeSignIn(): (SignIn & { readonly link: Link | null }) | null {
  const kept = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  return kept === null ? null : (JSON.parse(kept) as SignIn & { link: Link | null }); // only we write it
}
