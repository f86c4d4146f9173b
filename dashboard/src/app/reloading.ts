/** Reloads the parts of a project that are shown and that changes concern. */

import type { QueryClient } from "@tanstack/react-query";
import { concernedBy, type Concerned, type OfFlag } from "./recentChanges";
import type { Change } from "../api/changes";
import type { FlagPath } from "../api/client";
import { FLAG, FLAGS, PROJECT_FLAGS, showFlag, showRow } from "../features/flags/flagCache";
import { flagQuery, flagsQuery } from "../features/flags/flagsCalls";
import { flagsOfKeyQuery } from "../features/flags/projectFlagsCalls";
import { PROJECT } from "../api/projects";
import { BASE as RULES, BY_FLAG, keepRules, rulesByFlagQuery, rulesQuery } from "../features/flags/rulesCalls";
import { BASE as SEGMENTS } from "../features/flags/segmentsCalls";
import { CHANGES } from "../api/changed";
import { COMPARE } from "../features/copying/comparisonsCalls";
import { METRICS } from "../features/metrics/metricsCalls";
import { RELEASES } from "../features/releases/releasesCalls";
import { BASE as VIEWS } from "../features/views/viewsCalls";
import { allOf, type Key, keyOf, outdate, type Path } from "../api/queryKeys";

const MOST_ONE_BY_ONE = 5;
const OF_FLAGS = [FLAGS, FLAG, RULES, BY_FLAG] as const;
const FETCHING_MILLISECONDS = 100;

/** Reloads what these changes concern, or everything if they are not known or a load fails. */
export async function loadAgain(
  cache: QueryClient,
  projectId: string,
  changes: readonly Change[] | null,
): Promise<void> {
  if (changes?.length === 0) return;
  void outdate(cache, ...allOf(CHANGES), ...allOf([COMPARE], { project_id: projectId }));
  if (!changes || changes.some(({ action }) => action.startsWith("release."))) {
    void outdate(cache, ...allOf(RELEASES));
  }
  const concerned = changes && concernedBy(changes);
  loadOthers(cache, projectId, concerned?.others ?? null);
  if (!concerned || concerned.flags.length + concerned.rules.length + concerned.keys.length > 2 * MOST_ONE_BY_ONE) {
    loadEverything(cache);
    return;
  }
  for (const env_id of concerned.lists) void outdate(cache, ...allOf([FLAGS], { env_id }));
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

/** Marks other resources than flags as outdated, such as segments; all of them if the changes are not known. */
function loadOthers(cache: QueryClient, projectId: string, kinds: readonly string[] | null): void {
  const places: readonly (readonly [kinds: readonly string[], operations: readonly Path[]])[] = [
    [["project", "environment"], [PROJECT]],
    [["segment"], [SEGMENTS]],
    [["metric"], METRICS],
    [["view"], [VIEWS]],
  ];
  for (const [of, operations] of places) {
    if (!kinds || of.some((kind) => kinds.includes(kind))) {
      void outdate(cache, ...allOf(operations, { project_id: projectId }));
    }
  }
}

/** Marks flags and rules as outdated. Those that are shown are loaded again, as often as it takes. */
function loadEverything(cache: QueryClient): void {
  void outdate(cache, ...allOf(OF_FLAGS));
  void loadAllRows(cache, keyOf(PROJECT_FLAGS));
}

/**
 * Waits for the next part of a table if one is being loaded. Otherwise it would be dropped, although somebody asked for
 * it.
 */
async function loadAllRows(cache: QueryClient, queryKey: Key): Promise<void> {
  while (cache.isFetching({ queryKey }) > 0) {
    await new Promise((resolve) => setTimeout(resolve, FETCHING_MILLISECONDS));
  }
  await cache.invalidateQueries({ queryKey });
}

async function loadFlag(cache: QueryClient, path: FlagPath): Promise<void> {
  const single = flagQuery(path);
  if (isShown(cache, single.queryKey) || isShown(cache, flagsQuery(path).queryKey)) {
    showFlag(cache, await cache.query({ ...single, staleTime: 0 }));
  } else {
    void outdate(cache, single, flagsQuery(path));
  }
}

async function loadRules(cache: QueryClient, path: FlagPath): Promise<void> {
  const single = rulesQuery(path);
  if (isShown(cache, single.queryKey) || isShown(cache, rulesByFlagQuery(path).queryKey)) {
    keepRules(cache, path, await cache.query({ ...single, staleTime: 0 }));
  } else {
    void outdate(cache, single, rulesByFlagQuery(path));
  }
}

/** Reloads the shown flags of all environments: the rows of these flags, or all rows if flags were added or removed. */
async function loadRows(cache: QueryClient, projectId: string, { keys, lists }: Concerned): Promise<void> {
  const all = keyOf(PROJECT_FLAGS, { project_id: projectId });
  if (!isShown(cache, all) || lists.length > 0) return loadAllRows(cache, all);
  await Promise.all(
    keys.map(async (key) => {
      const row = await cache.query({ ...flagsOfKeyQuery(projectId, key), staleTime: 0 });
      if (row) showRow(cache, row);
    }),
  );
}

function isShown(cache: QueryClient, queryKey: Key): boolean {
  return cache.getQueryCache().findAll({ queryKey, type: "active" }).length > 0;
}

function pathOf(projectId: string, { environmentId, flagId }: OfFlag): FlagPath {
  return { project_id: projectId, env_id: environmentId, flag_id: flagId };
}
