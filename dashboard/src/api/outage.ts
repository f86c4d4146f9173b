/**
 * Decides whether the server can be reached. No other module does.
 *
 * Every response counts as contact, and so does every sign of a stream. A request without a response begins an outage
 * only if the server does not answer a second one. The server is polled until it responds, which ends the outage.
 */

import { useSyncExternalStore } from "react";
import { answeredAddress, serverAddress } from "./server";
import { currentSession } from "./session";
import { currentOutage, type Outage, setOutage, watchOutage } from "./outageState";

const CHECK_MILLISECONDS = 4_000;
/** A stream has a sign of life every ten seconds. */
const SILENCE_MILLISECONDS = 12_000;
const WATCH_MILLISECONDS = 2_000;
const AGAIN_MILLISECONDS = [1_000, 2_000, 4_000, 8_000, 10_000];
const GATEWAY = [502, 503, 504];

let heardAt = Date.now();
let followedUntil = 0;
let checking: Promise<void> | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
const returns = new Set<() => void>();

/** Sends a request, and records whether the server has responded. */
export async function send(request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (!isAbort(error)) noteFailure();
    throw error;
  }
  if (isAway(response) && request.method === "GET") noteFailure();
  else heard();
  return response;
}

/** Records that a response or a stream has failed. During an outage, the next attempt is already planned. */
export function noteFailure(): void {
  if (currentOutage() === null) void check();
}

/** Records a sign of life. `follows` says whether it also proves that all changes are shown. */
export function heard(follows = false): void {
  heardAt = Date.now();
  if (follows) followedUntil = heardAt;
  if (currentOutage() === null) return;
  clearTimeout(timer);
  setOutage(null);
  for (const listener of returns) listener();
}

/** Asks the server for a sign of life. */
export function check(): Promise<void> {
  checking ??= ask().finally(() => {
    checking = null;
  });
  return checking;
}

/** Null while the server can be reached. */
export function useOutage(): Outage | null {
  return useSyncExternalStore(watchOutage, currentOutage);
}

/** Calls back whenever an outage ends. Returns a function that stops this. */
export function onReturn(listener: () => void): () => void {
  returns.add(listener);
  return () => returns.delete(listener);
}

/** Polls the server while the page is visible, and at once when it becomes visible again or the device is online. */
export function watchConnection(): () => void {
  const look = (): void => {
    if (document.visibilityState === "visible" && Date.now() - heardAt > SILENCE_MILLISECONDS) void check();
  };
  const lookNow = (): void => {
    if (currentOutage() !== null || !navigator.onLine || Date.now() - heardAt > WATCH_MILLISECONDS) void check();
  };
  const onVisible = (): void => {
    if (document.visibilityState === "visible") lookNow();
  };
  const watching = setInterval(look, WATCH_MILLISECONDS);
  window.addEventListener("online", lookNow);
  window.addEventListener("offline", lookNow);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    clearInterval(watching);
    window.removeEventListener("online", lookNow);
    window.removeEventListener("offline", lookNow);
    document.removeEventListener("visibilitychange", onVisible);
  };
}

async function ask(tries = 0): Promise<void> {
  clearTimeout(timer);
  if (await answers()) return heard();
  if (currentOutage() === null) setOutage({ since: heardAt, followedUntil });
  const pause = AGAIN_MILLISECONDS[tries] ?? AGAIN_MILLISECONDS.at(-1);
  timer = setTimeout(() => {
    checking ??= ask(tries + 1).finally(() => {
      checking = null;
    });
  }, pause);
}

/** With a session, the response needs the database as well, because without it nothing can be shown. */
async function answers(): Promise<boolean> {
  const token = currentSession()?.token;
  try {
    const response = await fetch(token === undefined ? answeredAddress() : `${serverAddress()}/api/me`, {
      cache: "no-store",
      signal: AbortSignal.timeout(CHECK_MILLISECONDS),
      ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
    });
    return !isAway(response);
  } catch {
    return false;
  }
}

function isAway({ status }: Response): boolean {
  return GATEWAY.includes(status);
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
