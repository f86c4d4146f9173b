/**
 * Signing in at an identity provider. What belongs to a sign-in stays in the tab that has begun it, and the provider's
 * answer is read once, before anything else runs, and removed from the address bar immediately.
 */

export const CALLBACK_PATH = "/sso/callback";

const STORAGE_KEY = "flagstaff.sign-in"; // the binding, kept when a sign-in begins
const taken = take();

export interface ProviderAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss?: string;
  readonly binding: string;
}

/** The provider's answer; null if this tab has not begun a sign-in, or the provider has refused it. */
export function providerAnswer(): ProviderAnswer | null {
  return taken;
}

function take(): ProviderAnswer | null {
  if (window.location.pathname !== CALLBACK_PATH) return null;
  const answer = new URLSearchParams(window.location.search);
  const binding = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  window.history.replaceState(window.history.state, "", CALLBACK_PATH);
  const [state, code, iss] = [answer.get("state"), answer.get("code"), answer.get("iss")];
  if (state === null || code === null || binding === null) return null;
  return { state, code, binding, ...(iss !== null && { iss }) };
}
