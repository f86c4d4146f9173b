/** The session. It is kept in local storage, ends in all tabs at once, and never outlives its token. */

const STORAGE_KEY = "flagstaff.session";

export interface Session {
  readonly token: string;
  readonly email: string;
  /** The name of the identity provider that the session came from. */
  readonly provider?: string;
  /** Where the session at the provider is ended. */
  readonly logoutUrl?: string;
}

export type Ending = "signed-out" | "expired" | "elsewhere";

type Listener = () => void;

const listeners = new Set<Listener>();
let current = read();
let lastEnding: Ending | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;
scheduleExpiry();
window.addEventListener("storage", (event) => {
  // A null key means that the whole storage was cleared.
  if (event.key === STORAGE_KEY || event.key === null) adopt(read(), "elsewhere");
});

export function currentSession(): Session | null {
  return current;
}

export function startSession(session: Session): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(session));
  adopt(session, "signed-out");
}

export function endSession(ending: Ending): void {
  localStorage.removeItem(STORAGE_KEY);
  adopt(null, ending);
}

/** Why the last session ended; null if there is a session or never was one. */
export function sessionEnding(): Ending | null {
  return lastEnding;
}

/** Calls back whenever a session begins or ends in any tab. Returns a function that stops this. */
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

function adopt(session: Session | null, ending: Ending): void {
  if (session?.token === current?.token) return;
  current = session;
  lastEnding = session ? null : ending;
  scheduleExpiry();
  for (const listener of listeners) listener();
}

function scheduleExpiry(): void {
  clearTimeout(expiry);
  const end = current && expiryOf(current.token);
  if (end === null) return;
  const left = end - Date.now();
  if (left <= 0) endSession("expired");
  else expiry = setTimeout(scheduleExpiry, Math.min(left, 60_000)); // timers are late after the machine has slept
}
