/**
 * The session. It is kept in local storage, ends in all tabs at once, and never outlives its token.
 *
 * If it ends without being signed out, the pages that are open may stay, for signing in again in place.
 */

import { storageName } from "./server";

const STORAGE_KEY = storageName("flagstaff.session");
const ENDING_KEY = storageName("flagstaff.session-ending");

export interface Session {
  readonly token: string;
  readonly email: string;
  /** The name of the identity provider that the session came from. */
  readonly provider?: string;
  /** The URL that ends the session at the provider. */
  readonly logoutUrl?: string;
}

export type Ending = "signed-out" | "expired" | "elsewhere";

/** `interrupted` and `resumed` do not change the open pages. */
export type SessionChange = "began" | "ended" | "interrupted" | "resumed";

type Listener = (change: SessionChange) => void;

const listeners = new Set<Listener>();
let current = read();
let interrupted: Session | null = null;
let lastEnding: Ending | null = null;
let keepsPage = (): boolean => false;
let expiry: ReturnType<typeof setTimeout> | undefined;
scheduleExpiry();
window.addEventListener("storage", (event) => {
  // A null key means that the whole storage was cleared.
  if (event.key === STORAGE_KEY || event.key === null) adopt(read(), "elsewhere", wasSignedOut());
});

export function currentSession(): Session | null {
  return current;
}

/** The session that has ended, while its page waits for someone to sign in again. */
export function interruptedSession(): Session | null {
  return interrupted;
}

/** Sets when pages stay open after the session has ended. */
export function keepPagesWhile(isShown: () => boolean): void {
  keepsPage = isShown;
}

/** Abandons the page that waits. */
export function leaveInterrupted(): void {
  interrupted = null;
  tell("ended");
}

/** The next session if it is of the account for which the page waits; else null. */
export function resumedSession(): Promise<Session | null> {
  if (interrupted === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const forget = onSessionChange((change) => {
      forget();
      resolve(change === "resumed" ? current : null);
    });
  });
}

/** Whether the last session ended because somebody signed out, in any tab, or cleared the storage. */
export function wasSignedOut(): boolean {
  return (localStorage.getItem(ENDING_KEY) ?? "signed-out") === "signed-out";
}

export function startSession(session: Session): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(session));
  adopt(session, "signed-out");
}

export function endSession(ending: Ending): void {
  localStorage.setItem(ENDING_KEY, ending);
  localStorage.removeItem(STORAGE_KEY);
  adopt(null, ending, ending === "signed-out");
}

/** Why the last session ended; null if there is a session or never was one. */
export function sessionEnding(): Ending | null {
  return lastEnding;
}

/** Calls back whenever the session changes in any tab. Returns a function that stops this. */
export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** When a token expires, in milliseconds since 1970; null if it is not a token. */
export function expiryOf(token: string): number | null {
  try {
    const [, payload = ""] = token.split(".");
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const seconds = (claims as { exp?: unknown }).exp;
    return typeof seconds === "number" ? seconds * 1000 : null;
  } catch {
    return null;
  }
}

function read(): Session | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");
    const { token, email, provider, logoutUrl } = (stored ?? {}) as Partial<Session>;
    if (typeof token !== "string" || typeof email !== "string") return null;
    return { token, email, ...(provider && { provider }), ...(logoutUrl && { logoutUrl }) };
  } catch {
    return null;
  }
}

function adopt(session: Session | null, ending: Ending, isSignedOut = false): void {
  if (session?.token === current?.token) return;
  const before = current ?? interrupted;
  const isSame = session !== null && session.email.toLowerCase() === interrupted?.email.toLowerCase();
  current = session;
  lastEnding = session ? null : ending;
  interrupted = session === null && !isSignedOut && keepsPage() ? before : null;
  scheduleExpiry();
  if (session) tell(isSame ? "resumed" : "began");
  else tell(interrupted ? "interrupted" : "ended");
}

function tell(change: SessionChange): void {
  for (const listener of [...listeners]) listener(change);
}

function scheduleExpiry(): void {
  clearTimeout(expiry);
  const end = current && expiryOf(current.token);
  if (end === null) return;
  const left = end - Date.now();
  if (left <= 0) endSession("expired");
  else expiry = setTimeout(scheduleExpiry, Math.min(left, 60_000)); // timers are late after the machine has slept
}
