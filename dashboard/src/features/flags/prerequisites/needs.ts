/** Which flags a flag needs and which flags need it, directly or through others, as a graph in columns. */

import type { Flag, Prerequisite } from "../../../api/client";

type Needing = Pick<Flag, "key" | "prerequisites">;

export interface Need {
  readonly needed: string;
  readonly needing: string;
  readonly prerequisite: Prerequisite;
}

export interface NeedsGraph {
  /** Keys by column. Every flag stands to the right of those that it needs. */
  readonly columns: readonly (readonly string[])[];
  readonly needs: readonly Need[];
}

export function needsOf(flags: readonly Needing[], key: string): NeedsGraph {
  const all = flags.flatMap(({ key: needing, prerequisites }) =>
    prerequisites.map((each): Need => ({ needed: each.flag_key, needing, prerequisite: each })),
  );
  const before = reached(all, "needing", "needed", key);
  const after = reached(all, "needed", "needing", key);
  const columns = [...before.columns.toReversed(), [key], ...after.columns];
  return { columns: columns.map((keys) => keys.toSorted()), needs: [...before.needs, ...after.needs] };
}

type End = "needed" | "needing";

/** The flags that can be reached in one direction, by the length of the longest path to each. */
function reached(all: readonly Need[], near: End, far: End, start: string) {
  const from = new Map<string, Need[]>();
  for (const need of all) {
    const others = from.get(need[near]);
    if (others) others.push(need);
    else from.set(need[near], [need]);
  }
  const needs: Need[] = [];
  const found = new Set([start]);
  const arriving = new Map<string, number>();
  for (const key of found) {
    for (const need of from.get(key) ?? []) {
      needs.push(need);
      found.add(need[far]); // grows during the loop
      arriving.set(need[far], (arriving.get(need[far]) ?? 0) + 1);
    }
  }
  const columns: string[][] = [];
  let front = [start];
  while (front.length > 0) {
    const next: string[] = [];
    for (const need of front.flatMap((key) => from.get(key) ?? [])) {
      const left = (arriving.get(need[far]) ?? 0) - 1;
      arriving.set(need[far], left);
      // Not the start itself, which appears only if the flags were loaded while they changed and seem to form a cycle.
      if (left === 0 && need[far] !== start) next.push(need[far]);
    }
    if (next.length > 0) columns.push(next);
    front = next;
  }
  return { columns, needs };
}
