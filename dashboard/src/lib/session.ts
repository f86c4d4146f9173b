/** The signed-in session: kept in local storage, ended in every tab at once, never kept past its token's life. */

const STORAGE_KEY = "flagstaff.session";

export interface Session {
  readonly token: string;
  readonly email: string;
}

export type Ending = "signed-out" | "expired";

type Listener = () => void;

const listeners = new Set<Listener>();
let current = read();
let lastEnding: Ending | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;
scheduleExpiry();
window.addEventListener("storage", (event) => {
  // A null key means that the whole storage was cleared.
  if (event.key === STORAGE_KEY || event.key === null) adopt(read(), "signed-out");
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

/** Why the last session ended; null while there is one, and where there was none. */
export function sessionEnding(): Ending | null {
  return lastEnding;
}

/** Calls back whenever a session begins or ends, in whichever tab. Returns what stops that. */
export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** When a token ends, in milliseconds since 1970; null for what is no token. */
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
    const { token, email } = (stored ?? {}) as Partial<Session>;
    return typeof token === "string" && typeof email === "string" ? { token, email } : null;
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
  else expiry = setTimeout(scheduleExpiry, Math.min(left, 60_000)); // a sleeping machine's timers run late
}
