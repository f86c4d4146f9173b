/**
 * The flags in the cache. Lists of environments, single flags and the rows of all environments may hold copies of the same
 * flag, and this module alone changes them.
 */

import type { QueryClient } from "@tanstack/react-query";
import { outdateChanges } from "../../api/changed";
import type { EnvironmentPath, Flag, FlagPath } from "../../api/client";
import { allOf, outdate } from "../../api/queryKeys";
import type { components } from "../../api/schema";

/** The flags with one key, in all environments. */
export type ProjectFlag = components["schemas"]["ProjectFlagOut"];

export const FLAGS = "/api/projects/{project_id}/environments/{env_id}/flags";
export const FLAG = `${FLAGS}/{flag_id}` as const;
export const PROJECT_FLAGS = "/api/projects/{project_id}/flags";
const OF_FLAGS = [FLAGS, FLAG, PROJECT_FLAGS] as const;

/** Updates a flag everywhere it is shown. */
export function showFlag(cache: QueryClient, flag: Partial<Flag> & Pick<Flag, "id">): void {
  show(cache, ({ id }) => id === flag.id, flag);
}

/** Updates a row of all environments everywhere it is shown. */
export function showRow(cache: QueryClient, row: ProjectFlag): void {
  show(cache, ({ key, differs }) => differs !== undefined && key === row.key, row);
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

type Fields = Readonly<Record<string, unknown>>;
type IsMeant = (fields: Fields) => boolean;

function show(cache: QueryClient, isMeant: IsMeant, known: Fields): void {
  for (const { queryKey, state } of cache.getQueryCache().findAll()) {
    if (!OF_FLAGS.some((path) => path === queryKey[0])) continue;
    const data = replaced(state.data, isMeant, known);
    if (data !== state.data) cache.setQueryData(queryKey, data);
  }
}

/** The data with the flag's new values; the same data if it does not contain the flag. */
function replaced(data: unknown, isMeant: IsMeant, known: Fields): unknown {
  if (Array.isArray(data)) {
    const items = data.map((each: unknown) => replaced(each, isMeant, known));
    return items.some((each, place) => each !== data[place]) ? items : data;
  }
  if (typeof data !== "object" || data === null) return data;
  const fields = data as Fields;
  if (isMeant(fields)) return { ...fields, ...fittingIn(fields, known) };
  if (fields.id !== undefined) return data; // another flag
  const inside = Object.entries(fields).map(([name, value]) => [name, replaced(value, isMeant, known)] as const);
  return inside.some(([name, value]) => value !== fields[name]) ? Object.fromEntries(inside) : data;
}

/** The values for the fields that a copy has. In place of lists, a row has their lengths. */
function fittingIn(copy: Fields, known: Fields): Fields {
  const fits = ([name, value]: [string, unknown]) => name in copy && Array.isArray(value) === Array.isArray(copy[name]);
  return Object.fromEntries(Object.entries(known).filter(fits));
}
