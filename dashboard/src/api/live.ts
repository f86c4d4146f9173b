/**
 * Follows what others change in an environment. A stream tells that something has changed, and the audit trail tells
 * what; only that is loaded again. While there is no stream, the audit trail is read every few seconds.
 */

import type { QueryClient } from "@tanstack/react-query";
import { concernedBy, newOnes } from "../lib/recentChanges";
import { inTime, readEvents } from "../lib/eventStream";
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
const POLLS = 6; // until the next attempt to open a stream
const REOPEN_MILLISECONDS = 500;
const PATIENCE = { firstMilliseconds: 5_000, nextMilliseconds: 25_000 }; // there is a comment every ten seconds
const JUST_NOW_MILLISECONDS = 30_000;
const LISTS = ["flags", "archived-flags"];

/** The newest change of each environment of which a page has heard. */
const known = new Map<string, string>();

/** Follows the changes until the signal is aborted, or the environment can no longer be read. */
export async function followChanges(cache: QueryClient, path: EnvironmentPath, left: AbortSignal): Promise<void> {
  const catchUp = again(() => readTrail(cache, path, left), left);
  while (!left.aborted) {
    if (await readStream(path, left, () => void catchUp())) {
      await pause(REOPEN_MILLISECONDS, left);
      continue;
    }
    for (let polls = 0; polls < POLLS; polls += 1) {
      await pause(POLL_MILLISECONDS, left);
      if (!(await catchUp())) return;
    }
  }
}

/** Calls back for each event of a stream; returns whether it was opened, after its end. */
async function readStream(path: EnvironmentPath, left: AbortSignal, onEvent: () => void): Promise<boolean> {
  const given = new AbortController();
  try {
    const signal = AbortSignal.any([left, given.signal]);
    const answer = ask(client.GET(`${BASE}/events`, { params: { path }, signal, parseAs: "stream" }));
    const stream = await inTime(answer, PATIENCE.firstMilliseconds);
    await readEvents(stream as unknown as ReadableStream<Uint8Array>, PATIENCE, onEvent);
    return true;
  } catch {
    // Without a connection, or with a proxy that collects the events, the audit trail is read instead.
    return false;
  } finally {
    given.abort();
  }
}

/** Loads what the audit trail says has changed since the last time; returns whether the trail may be read. */
async function readTrail(cache: QueryClient, path: EnvironmentPath, left: AbortSignal): Promise<boolean> {
  try {
    const call = client.GET(`${BASE}/changes`, { params: { path, query: { limit: RECENT } }, signal: left });
    const { items } = await ask(call);
    const before = known.get(path.env_id);
    const changes = before === undefined ? firstOnes(items, (await call).response) : newOnes(items, before);
    known.set(path.env_id, items[0]?.id ?? "");
    await loadAgain(cache, path, changes, left);
  } catch (error) {
    return !(error instanceof Problem) || error.status === 0 || error.status === 429 || error.status >= 500;
  }
  return true;
}

/** None, unless one was so recent that the page may have been loaded before it: then all may have been. */
function firstOnes(changes: readonly Change[], { headers }: Response): readonly Change[] | null {
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(changes[0]?.at ?? "");
  return age < JUST_NOW_MILLISECONDS ? null : [];
}

/** Loads again what changes concern; everything if they are not known, or if one cannot be loaded. */
async function loadAgain(
  cache: QueryClient,
  path: EnvironmentPath,
  changes: readonly Change[] | null,
  left: AbortSignal,
): Promise<void> {
  // Changes of segments are not in the trail of an environment.
  void cache.invalidateQueries({ queryKey: segmentsQuery(path.project_id).queryKey });
  if (changes?.length === 0) return;
  // What has been pressed, but not answered, shows the state that was asked for.
  while (cache.isMutating() > 0 && !left.aborted) await pause(BETWEEN_MILLISECONDS, left);
  void cache.invalidateQueries({ queryKey: ["changes"] });
  const concerned = changes && concernedBy(changes);
  if (!concerned || concerned.flags.length + concerned.rules.length > MOST_FLAGS) {
    loadEverything(cache);
    return;
  }
  if (concerned.environment) void cache.invalidateQueries({ queryKey: environmentsQuery(path.project_id).queryKey });
  if (concerned.lists) for (const key of LISTS) void cache.invalidateQueries({ queryKey: [key, path.env_id] });
  try {
    await Promise.all([
      ...concerned.flags.map((id) => loadFlag(cache, { ...path, flag_id: id })),
      ...concerned.rules.map((id) => loadRules(cache, { ...path, flag_id: id })),
    ]);
  } catch {
    loadEverything(cache);
  }
}

/** Marks flags and rules as outdated. Those that are shown are loaded again, as often as it takes. */
function loadEverything(cache: QueryClient): void {
  for (const key of [...LISTS, "rules-by-flag", "flag", "rules"]) void cache.invalidateQueries({ queryKey: [key] });
}

async function loadFlag(cache: QueryClient, path: FlagPath): Promise<void> {
  keepFlag(cache, path, await cache.query({ ...flagQuery(path), staleTime: 0 }));
}

async function loadRules(cache: QueryClient, path: FlagPath): Promise<void> {
  keepRules(cache, path, await cache.query({ ...rulesQuery(path), staleTime: 0 }));
}

/** Repeats a function that is called while it runs, once it is done; however often it was called. */
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
