/** The token of the link in a mail. It is read once, before anything else runs, and removed from the address bar immediately. */

import { pagePath } from "../../api/server";

export const RESET_PATH = "/reset-password";
export const INVITATION_PATH = "/invitation";
export const UNSUBSCRIBE_PATH = "/unsubscribe";
export const VERIFY_EMAIL_PATH = "/verify-email";

const PATHS: readonly string[] = [RESET_PATH, INVITATION_PATH, UNSUBSCRIBE_PATH, VERIFY_EMAIL_PATH];

export interface Link {
  readonly path: string;
  readonly token: string;
}

let taken = take();

/** The token that this page was opened with. It is kept only in memory, so it is gone after the page is reloaded. */
export function linkToken(path: string): string | null {
  return taken?.path === path ? taken.token : null;
}

/** The link that this page was opened with, to be restored after a visit to another site. */
export function openedLink(): Link | null {
  return taken;
}

export function restoreLink(link: Link): void {
  taken = link;
}

function take(): Link | null {
  const path = pagePath();
  if (!PATHS.includes(path)) return null;
  const token = new URLSearchParams(window.location.search).get("token");
  if (token === null) return null;
  window.history.replaceState(window.history.state, "", window.location.pathname);
  return { path, token };
}
