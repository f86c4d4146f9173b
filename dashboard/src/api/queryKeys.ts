/**
 * The keys of the cache. The key of a read is the path of its operation, the ids in that path, and whatever else its result
 * depends on. A key without some of these stands for all reads that have the others.
 */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { unlessAway } from "./outageState";
import type { paths } from "./schema";

export type Path = keyof paths;
export type Key = readonly [path: Path, ids: Readonly<Record<string, unknown>>, ...rest: unknown[]];

declare module "@tanstack/react-query" {
  /** The cache accepts no other keys. */
  interface Register {
    queryKey: Key;
    mutationKey: Key;
  }
}

export interface Keyed {
  readonly queryKey: Key;
}

/** The key of a read. Of the ids, only those in the path count. */
export function keyOf(path: Path, ids: object = {}, ...rest: readonly unknown[]): Key {
  const inPath = Object.entries(ids).filter(([name]) => path.includes(`{${name}}`));
  return [path, Object.fromEntries(inPath), ...rest];
}

/** All reads of operations with these ids. */
export function allOf(operations: readonly Path[], ids: object = {}): Keyed[] {
  return operations.map((path) => ({ queryKey: keyOf(path, ids) }));
}

/**
 * Marks reads as outdated, and loads again what is shown of them. During an outage, a change does not wait for this: what
 * became of it is shown at once.
 */
export function outdate(cache: QueryClient, ...reads: readonly Keyed[]): Promise<unknown> {
  return unlessAway(Promise.all(reads.map(({ queryKey }) => cache.invalidateQueries({ queryKey }))));
}

/** Marks everything as outdated, except the reads of these operations. */
export function outdateAllBut(cache: QueryClient, ...operations: readonly Path[]): Promise<unknown> {
  return cache.invalidateQueries({ predicate: ({ queryKey: [path] }) => !operations.includes(path) });
}

/** Returns a function that marks reads as outdated, for the end of a change. */
export function useOutdating(...reads: readonly Keyed[]): () => Promise<unknown> {
  const cache = useQueryClient();
  return () => outdate(cache, ...reads);
}
