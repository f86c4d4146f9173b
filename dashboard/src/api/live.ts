/**
 * Follows what others change in an environment. A stream tells that something has changed, and the audit trail tells
 * what; only that is loaded again. While there is no stream, the audit trail is read every few seconds.
 */

import type { QueryClient } from "@tanstack/react-query";
import { concernedBy, newOnes } from "../lib/recentChanges";
import { readEvents } from "../lib/eventStream";
import type { Change } from "./changes";
import { client, type EnvironmentPath, type FlagPath } from "./client";
import { environmentsQuery } from "./environments";
import { keepFlag, flagQuery } from "./flags";
import { ask, Problem } from "./problem";
import { keepRules, rulesQuery } from "./rules";
import { segmentsQuery } from "./segments";

const BASE = "/api/projects/{project_id}/environments/{env_id}";
const RECENT = 20;
const MOST_FLAGS = 5; // that are loaded one by one
const BETWEEN_MILLISECONDS = 300; // however fast changes follow each other
const POLL_MILLISECONDS = 5_000;
const REOPEN_MILLISECONDS = 500;
const SILENCE_MILLISECONDS = 25_000; // the server sends a comment every ten seconds

/** Follows the changes until the signal is aborted, or the environment can no longer be read. */
export async function followChanges(cache: QueryClient, path: EnvironmentPath, left: AbortSignal): Promise<void> {
  const catchUp = once(makeCatchUp(cache, path, left), left);
  while (!left.aborted) {
    const wasOpen = await readStream(path, left, () => void catchUp());
    await pause(wasOpen ? REOPEN_MILLISECONDS : POLL_MILLISECONDS, left);
    if (!wasOpen && !(await catchUp())) return;
  }
}

/** Calls back for each event of a stream; returns whether it was opened, after its end. */
async function readStream(path: EnvironmentPath, left: AbortSignal, onEvent: () => void): Promise<boolean> {
  let isOpen = false;
  try {
    const stream = await ask(client.GET(`${BASE}/events`, { params: { path }, signal: left, parseAs: "stream" }));
    await readEvents(stream as ReadableStream<Uint8Array>, SILENCE_MILLISECONDS, () => {
      isOpen = true;
      onEvent();
    });
  } catch {
    // Without a connection, or with a proxy that keeps the events to itself, the audit trail is read instead.
    return false;
  }
  return isOpen;
}

/** Makes a function that loads what has changed since it was last called; it returns whether that was possible. */
function makeCatchUp(cache: QueryClient, path: EnvironmentPath, left: AbortSignal): () => Promise<boolean> {
  let known: string | null = null;
  return async () => {
    const query = { limit: RECENT };
    try {
      const { items } = await ask(client.GET(`${BASE}/changes`, { params: { path, query }, signal: left }));
      const before = known;
      known = items[0]?.id ?? "";
      if (before !== null) await loadAgain(cache, path, newOnes(items, before), left);
    } catch (error) {
      if (left.aborted) return false;
      return !(error instanceof Problem) || error.status === 0 || error.status === 429 || error.status >= 500;
    }
    return true;
  };
}

async function loadAgain(
  cache: QueryClient,
  path: EnvironmentPath,
  changes: readonly Change[] | null,
  left: AbortSignal,
): Promise<void> {
  if (changes?.length === 0) {
    // The environment has another state without a change of its own: a segment has changed.
    await cache.invalidateQueries({ queryKey: segmentsQuery(path.project_id).queryKey });
    return;
  }
  // What has been pressed, but not answered, shows the state that was asked for.
  while (cache.isMutating() > 0) await pause(BETWEEN_MILLISECONDS, left);
  void cache.invalidateQueries({ queryKey: ["changes"] });
  const concerned = changes && concernedBy(changes);
  if (!concerned || concerned.flags.length + concerned.rules.length > MOST_FLAGS) {
    for (const key of ["flags", "archived-flags", "rules-by-flag", "flag", "rules"]) {
      void cache.invalidateQueries({ queryKey: [key] });
    }
    return;
  }
  if (concerned.environment) void cache.invalidateQueries({ queryKey: environmentsQuery(path.project_id).queryKey });
  if (concerned.lists) {
    for (const key of ["flags", "archived-flags"]) void cache.invalidateQueries({ queryKey: [key, path.env_id] });
    for (const id of concerned.flags) void cache.invalidateQueries({ queryKey: ["flag", id] });
  } else {
    await Promise.all(concerned.flags.map((id) => loadFlag(cache, { ...path, flag_id: id })));
  }
  await Promise.all(concerned.rules.map((id) => loadRules(cache, { ...path, flag_id: id })));
}

async function loadFlag(cache: QueryClient, path: FlagPath): Promise<void> {
  keepFlag(cache, path, await cache.query({ ...flagQuery(path), staleTime: 0 }));
}

async function loadRules(cache: QueryClient, path: FlagPath): Promise<void> {
  keepRules(cache, path, await cache.query({ ...rulesQuery(path), staleTime: 0 }));
}

/** Calls a function that is running once more after it, however often it is called meanwhile. */
function once(work: () => Promise<boolean>, left: AbortSignal): () => Promise<boolean> {
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
    const timer = setTimeout(resolve, milliseconds);
    left.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
