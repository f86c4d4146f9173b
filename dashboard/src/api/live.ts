/**
 * Follows others' changes in a project. A stream reports that something has changed, and the audit trail says what;
 * only that is loaded again. While there is no stream, the audit trail is read every few seconds.
 */

import type { QueryClient } from "@tanstack/react-query";
import { inTime, readEvents } from "./eventStream";
import { newOnes } from "./recentChanges";
import type { Change } from "./changes";
import { client } from "./client";
import { heard, noteFailure, onReturn } from "./outage";
import { ask, Problem } from "./problem";
import { loadAgain } from "./reloading";

const BASE = "/api/projects/{project_id}";
const RECENT = 20;
const BETWEEN_MILLISECONDS = 300; // however fast changes follow each other
const POLL_MILLISECONDS = 5_000;
const POLLS = 6; // until the next attempt to open a stream
const REOPEN_MILLISECONDS = 500;
const PATIENCE = { firstMilliseconds: 5_000, nextMilliseconds: 25_000 }; // there is a comment every ten seconds
const JUST_NOW_MILLISECONDS = 30_000;

/** The newest known change of each project. */
const known = new Map<string, string>();

/** Follows the changes until the signal is aborted, or the project can no longer be read. */
export async function followChanges(cache: QueryClient, projectId: string, left: AbortSignal): Promise<void> {
  const catchUp = again(() => readTrail(cache, projectId, left), left);
  while (!left.aborted) {
    if (await readStream(projectId, left, () => void catchUp())) {
      await pause(REOPEN_MILLISECONDS, left);
      continue;
    }
    if (!(await poll(catchUp, left))) return;
  }
}

/** Reads the audit trail for a while, or until the server is back; returns whether the trail may be read. */
async function poll(catchUp: () => Promise<boolean>, left: AbortSignal): Promise<boolean> {
  const back = new AbortController();
  const forget = onReturn(() => back.abort());
  const ended = AbortSignal.any([left, back.signal]);
  try {
    for (let polls = 0; polls < POLLS && !ended.aborted; polls += 1) {
      await pause(POLL_MILLISECONDS, ended);
      if (!(await catchUp())) return false;
    }
    return true;
  } finally {
    forget();
  }
}

/** Calls back for each event of a stream; returns whether it was opened, after its end. */
async function readStream(projectId: string, left: AbortSignal, onEvent: () => void): Promise<boolean> {
  const given = new AbortController();
  try {
    const signal = AbortSignal.any([left, given.signal]);
    const answer = ask(client.GET(`${BASE}/events`, { params: at(projectId), signal, parseAs: "stream" }));
    const stream = await inTime(answer, PATIENCE.firstMilliseconds);
    await readEvents(stream as unknown as ReadableStream<Uint8Array>, PATIENCE, onEvent, () => heard(true));
    return true;
  } catch {
    if (!left.aborted) noteFailure();
    // Without a connection, or with a proxy that collects the events, the audit trail is read instead.
    return false;
  } finally {
    given.abort();
  }
}

/** Loads what the audit trail says has changed since the last time; returns whether the trail may be read. */
async function readTrail(cache: QueryClient, projectId: string, left: AbortSignal): Promise<boolean> {
  try {
    const call = client.GET(`${BASE}/changes`, {
      params: { ...at(projectId), query: { limit: RECENT } },
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
  } catch (error) {
    return !(error instanceof Problem) || error.status === 0 || error.status === 429 || error.status >= 500;
  }
  return true;
}

/** None, unless one was so recent that the page may have been loaded before it. Then any change may be missing. */
function firstOnes(changes: readonly Change[], { headers }: Response): readonly Change[] | null {
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(changes[0]?.at ?? "");
  return age < JUST_NOW_MILLISECONDS ? null : [];
}

/** Runs a function again, once, if it was called while it ran. */
function again(work: () => Promise<boolean>, left: AbortSignal): () => Promise<boolean> {
  let isWanted = false;
  let running: Promise<boolean> | null = null;
  const run = async (): Promise<boolean> => {
    let succeeded = true;
    while (isWanted && !left.aborted) {
      isWanted = false;
      succeeded = await work();
      await pause(BETWEEN_MILLISECONDS, left);
    }
    running = null;
    return succeeded;
  };
  return () => {
    isWanted = true;
    running ??= run();
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

function at(projectId: string) {
  return { path: { project_id: projectId } };
}
