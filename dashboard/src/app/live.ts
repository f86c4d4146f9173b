/**
 * Follows others' changes in a project. A stream reports that something has changed, and the audit trail says what;
 * only that is loaded again. While there is no stream, the audit trail is read every few seconds.
 */

import type { QueryClient } from "@tanstack/react-query";
import { currentSession } from "../api/session";
import { newOnes } from "./recentChanges";
import type { Change } from "../api/changes";
import { client } from "../api/client";
import { heard, noteFailure, onReturn } from "../api/outage";
import { ask, Problem } from "../api/problem";
import { loadAgain } from "./reloading";
import { readSharedEvents } from "../api/sharedEvents";

const BASE = "/api/projects/{project_id}";
const RECENT = 20;
const BETWEEN_MILLISECONDS = 300; // however fast changes follow each other
const POLL_MILLISECONDS = 5_000;
const POLLS = 6; // until the next attempt to open a stream
const REOPEN_MILLISECONDS = 500;
const JUST_NOW_MILLISECONDS = 30_000;

/** The newest known change of each project. */
const known = new Map<string, string>();

/** Follows the changes until the signal is aborted, or the project can no longer be read. */
export async function followChanges(cache: QueryClient, projectId: string, left: AbortSignal): Promise<void> {
  const catchUp = again(() => readTrail(cache, projectId, left), left);
  while (!left.aborted) {
    if (await readStream(projectId, left, catchUp)) {
      await pause(REOPEN_MILLISECONDS, left);
      continue;
    }
    if (!(await poll(catchUp, left))) return;
  }
}

/** Reads the audit trail for a while, or until the server is back; returns whether the trail may be read. */
async function poll(catchUp: () => Promise<void>, left: AbortSignal): Promise<boolean> {
  const back = new AbortController();
  const forget = onReturn(() => back.abort());
  const ended = AbortSignal.any([left, back.signal]);
  try {
    for (let polls = 0; polls < POLLS && !ended.aborted; polls += 1) {
      await pause(POLL_MILLISECONDS, ended);
      await catchUp();
    }
    return true;
  } catch (error) {
    return !(error instanceof Problem) || error.status === 0 || error.status === 429 || error.status >= 500;
  } finally {
    forget();
  }
}

/** Catches up with each event of a stream; returns whether it was opened, after its end, and always succeeded in that. */
async function readStream(projectId: string, left: AbortSignal, catchUp: () => Promise<void>): Promise<boolean> {
  const session = currentSession();
  if (session === null) return false; // reading the audit trail waits until somebody has signed in again
  const failed = new AbortController();
  const onEvent = () => void catchUp().catch(() => failed.abort());
  try {
    const ended = AbortSignal.any([left, failed.signal]);
    await readSharedEvents(projectId, session.token, ended, onEvent, () => heard(true));
    return true;
  } catch {
    if (!left.aborted) noteFailure();
    // Without a connection, or with a proxy that collects the events, the audit trail is read instead.
    return false;
  }
}

/** Loads what the audit trail says has changed since the last time; throws if it cannot be read. */
async function readTrail(cache: QueryClient, projectId: string, left: AbortSignal): Promise<void> {
  const call = client.GET(`${BASE}/changes`, {
    params: { path: { project_id: projectId }, query: { limit: RECENT } },
    signal: left,
  });
  const { items } = await ask(call);
  const before = known.get(projectId);
  const changes = before === undefined ? firstOnes(items, (await call).response) : newOnes(items, before);
  known.set(projectId, items[0]?.id ?? "");
  heard(true);
  // A control whose request has no response yet shows the requested state.
  while (changes?.length !== 0 && cache.isMutating() > 0 && !left.aborted) await pause(BETWEEN_MILLISECONDS, left);
  await loadAgain(cache, projectId, changes);
}

/** None, unless one was so recent that the page may have been loaded before it. Then any change may be missing. */
function firstOnes(changes: readonly Change[], { headers }: Response): readonly Change[] | null {
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(changes[0]?.at ?? "");
  return age < JUST_NOW_MILLISECONDS ? null : [];
}

/** Runs a function again, once, if it was called while it ran. */
function again(work: () => Promise<void>, left: AbortSignal): () => Promise<void> {
  let isWanted = false;
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    while (isWanted && !left.aborted) {
      isWanted = false;
      await work();
      await pause(BETWEEN_MILLISECONDS, left);
    }
  };
  return () => {
    isWanted = true;
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  };
}

function pause(milliseconds: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      left.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    left.addEventListener("abort", end);
  });
}
