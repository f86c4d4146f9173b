/** Loads again what is shown of a project, and of that only what changes concern. */

import type { QueryClient } from "@tanstack/react-query";
import { concernedBy, type Concerned, type OfFlag } from "../lib/recentChanges";
import type { Change } from "./changes";
import type { FlagPath } from "./client";
import { flagQuery, flagsQuery, keepFlag } from "./flags";
import { keepRow } from "./projectFlagCache";
import { flagsOfKeyQuery, PROJECT_FLAGS } from "./projectFlags";
import { projectInFullQuery } from "./projects";
import { keepRules, rulesByFlagQuery, rulesQuery } from "./rules";
import { segmentsQuery } from "./segments";

const MOST_ONE_BY_ONE = 5;
const LISTS = ["flags", "archived-flags"];
const OF_FLAGS = [...LISTS, "rules-by-flag", "flag", "rules"];
const FETCHING_MILLISECONDS = 100;

/** Loads again what these changes concern; everything if they are not known, or if something cannot be loaded. */
export async function loadAgain(
  cache: QueryClient,
  projectId: string,
  changes: readonly Change[] | null,
): Promise<void> {
  if (changes?.length === 0) return;
  void cache.invalidateQueries({ queryKey: ["changes"] });
  void cache.invalidateQueries({ queryKey: ["compare", projectId] });
  if (!changes || changes.some(({ action }) => action.startsWith("release."))) {
    void cache.invalidateQueries({ queryKey: ["releases"] });
  }
  const concerned = changes && concernedBy(changes);
  loadOthers(cache, projectId, concerned?.others ?? null);
  if (!concerned || concerned.flags.length + concerned.rules.length + concerned.keys.length > 2 * MOST_ONE_BY_ONE) {
    loadEverything(cache);
    return;
  }
  for (const id of concerned.lists) for (const key of LISTS) void cache.invalidateQueries({ queryKey: [key, id] });
  try {
    await Promise.all([
      ...concerned.flags.map((each) => loadFlag(cache, pathOf(projectId, each))),
      ...concerned.rules.map((each) => loadRules(cache, pathOf(projectId, each))),
      loadRows(cache, projectId, concerned),
    ]);
  } catch {
    loadEverything(cache);
  }
}

/** Marks what is not a flag as outdated, such as segments; all of it, if it is not known what has changed. */
function loadOthers(cache: QueryClient, projectId: string, kinds: readonly string[] | null): void {
  const places: readonly (readonly [readonly string[], readonly unknown[]])[] = [
    [["project", "environment"], projectInFullQuery(projectId).queryKey],
    [["segment"], segmentsQuery(projectId).queryKey],
    [["metric"], ["metrics", projectId]],
    [["view"], ["views", projectId]],
  ];
  for (const [of, queryKey] of places) {
    if (!kinds || of.some((kind) => kinds.includes(kind))) void cache.invalidateQueries({ queryKey });
  }
}

/** Marks flags and rules as outdated. Those that are shown are loaded again, as often as it takes. */
function loadEverything(cache: QueryClient): void {
  for (const key of OF_FLAGS) void cache.invalidateQueries({ queryKey: [key] });
  void loadAllRows(cache, [PROJECT_FLAGS]);
}

/** Waits for the next part of a table, if one is being loaded: it would be dropped, and the press that asked for it. */
async function loadAllRows(cache: QueryClient, queryKey: readonly string[]): Promise<void> {
  while (cache.isFetching({ queryKey }) > 0) {
    await new Promise((resolve) => setTimeout(resolve, FETCHING_MILLISECONDS));
  }
  await cache.invalidateQueries({ queryKey });
}

async function loadFlag(cache: QueryClient, path: FlagPath): Promise<void> {
  const single = flagQuery(path);
  if (isShown(cache, single.queryKey) || isShown(cache, flagsQuery(path).queryKey)) {
    keepFlag(cache, path, await cache.query({ ...single, staleTime: 0 }));
  } else {
    outdate(cache, single.queryKey, flagsQuery(path).queryKey);
  }
}

async function loadRules(cache: QueryClient, path: FlagPath): Promise<void> {
  const single = rulesQuery(path);
  if (isShown(cache, single.queryKey) || isShown(cache, rulesByFlagQuery(path).queryKey)) {
    keepRules(cache, path, await cache.query({ ...single, staleTime: 0 }));
  } else {
    outdate(cache, single.queryKey, rulesByFlagQuery(path).queryKey);
  }
}

/** Loads what is shown of flags in all environments: the rows of these flags, or all if flags have come or gone. */
async function loadRows(cache: QueryClient, projectId: string, { keys, lists }: Concerned): Promise<void> {
  const all = [PROJECT_FLAGS, projectId];
  if (!isShown(cache, all) || lists.length > 0) return loadAllRows(cache, all);
  await Promise.all(
    keys.map(async (key) => {
      const row = await cache.query({ ...flagsOfKeyQuery(projectId, key), staleTime: 0 });
      if (row) keepRow(cache, projectId, row);
    }),
  );
}

function isShown(cache: QueryClient, queryKey: readonly unknown[]): boolean {
  return cache.getQueryCache().findAll({ queryKey, type: "active" }).length > 0;
}

function outdate(cache: QueryClient, ...keys: (readonly unknown[])[]): void {
  for (const queryKey of keys) void cache.invalidateQueries({ queryKey });
}

function pathOf(projectId: string, { environmentId, flagId }: OfFlag): FlagPath {
  return { project_id: projectId, env_id: environmentId, flag_id: flagId };
}
