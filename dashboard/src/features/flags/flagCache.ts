/**
 * The flags in the cache. Lists of environments, single flags and the rows of all environments may hold copies of the same
 * flag, and this module alone changes them.
 */

import type { QueryClient } from "@tanstack/react-query";
import { outdateChanges } from "../../api/changed";
import type { EnvironmentPath, Flag, FlagPath } from "../../api/client";
import { allOf, keyOf, outdate, type Path } from "../../api/queryKeys";
import type { components } from "../../api/schema";

/** The flags with one key, in all environments. */
export type ProjectFlag = components["schemas"]["ProjectFlagOut"];

export const FLAGS = "/api/projects/{project_id}/environments/{env_id}/flags";
export const FLAG = `${FLAGS}/{flag_id}` as const;
export const PROJECT_FLAGS = "/api/projects/{project_id}/flags";
const OF_FLAGS = [FLAGS, FLAG, PROJECT_FLAGS] as const;

type FlagInBrief = ProjectFlag["flags"][number];
type Known = Partial<Flag> & Pick<Flag, "id">;

/** Updates a flag everywhere it is shown. */
export function showFlag(cache: QueryClient, known: Known): void {
  const updated = (flag: Flag) => (flag.id === known.id ? { ...flag, ...known } : flag);
  const inBrief = (flag: FlagInBrief) => (flag.id === known.id ? { ...flag, ...fittingIn(flag, known) } : flag);
  change(cache, FLAG, updated);
  change(cache, FLAGS, (flags: readonly Flag[]) => mapped(flags, updated));
  changeRows(cache, (row) => {
    const flags = mapped(row.flags, inBrief);
    return flags === row.flags ? row : { ...row, flags };
  });
}

/** Updates a row of all environments everywhere it is shown. */
export function showRow(cache: QueryClient, row: ProjectFlag): void {
  changeRows(cache, (shown) => (shown.key === row.key ? row : shown));
}

/** Cancels loads of a flag, because they may return an earlier state than the one that is shown. */
export function dropLoading(cache: QueryClient, path: FlagPath): Promise<unknown> {
  return Promise.all(allOf(OF_FLAGS, path).map((each) => cache.cancelQueries(each)));
}

/** Marks the flags of all environments of a project as outdated. */
export function outdateRows(cache: QueryClient, path: EnvironmentPath): Promise<unknown> {
  return outdate(cache, ...allOf([PROJECT_FLAGS], path));
}

/** After a change: the lists of changes, and the flags of all environments. */
export function refreshChanges(cache: QueryClient, path: EnvironmentPath): Promise<unknown> {
  return Promise.all([outdateChanges(cache, path), outdateRows(cache, path)]);
}

interface Parts {
  readonly pages: readonly { readonly items: ProjectFlag[] }[];
}

/** Rows are shown in parts, found by a text, or on their own. */
function changeRows(cache: QueryClient, update: (row: ProjectFlag) => ProjectFlag): void {
  change(cache, PROJECT_FLAGS, (data: Parts | ProjectFlag[] | ProjectFlag) => {
    if (Array.isArray(data)) return mapped(data, update);
    if (!("pages" in data)) return update(data);
    const pages = mapped(data.pages, (page) => {
      const items = mapped(page.items, update);
      return items === page.items ? page : { ...page, items };
    });
    return pages === data.pages ? data : { ...data, pages };
  });
}

/** Changes the data of an operation's reads. Data that stays the same also stays outdated if it is. */
function change<Data>(cache: QueryClient, operation: Path, update: (data: Data) => Data): void {
  for (const { queryKey, state } of cache.getQueryCache().findAll({ queryKey: keyOf(operation) })) {
    const data = state.data as Data | null | undefined;
    if (data === undefined || data === null) continue;
    const next = update(data);
    if (next !== data) cache.setQueryData(queryKey, next);
  }
}

/** The same list if no item changes. */
function mapped<List extends readonly unknown[]>(items: List, update: (item: List[number]) => List[number]): List {
  const next = items.map(update);
  return next.some((each, place) => each !== items[place]) ? (next as unknown as List) : items;
}

/** The values for the fields that a flag in brief has. In place of lists, it has their lengths. */
function fittingIn(flag: FlagInBrief, known: Known): Partial<FlagInBrief> {
  const fits = ([name, value]: [string, unknown]) => name in flag && !Array.isArray(value);
  return Object.fromEntries(Object.entries(known).filter(fits));
}
