/** Which of the palette's actions a query finds, and how many are shown. */

import type { ReactNode } from "react";

interface Findable {
  readonly label?: string;
  readonly description?: string;
}

export interface Action extends Findable {
  readonly id: string;
  readonly label: string;
  readonly leftSection?: ReactNode;
  readonly onClick: () => void;
}

export interface Group<A extends Findable> {
  readonly group: string;
  readonly actions: readonly A[];
}

const NOT_FOUND = 3;

/**
 * The first actions that contain the query: those whose labels do come first, then those whose descriptions do, then
 * those that have all of its words; and their groups likewise. Groups in `always` come last, whatever their number.
 */
export function foundActions<A extends Findable>(
  query: string,
  groups: readonly Group<A>[],
  most: number,
  always: readonly Group<A>[] = [],
): Group<A>[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const rank = ({ label = "", description = "" }: Findable) => {
    const [name, rest] = [label.toLowerCase(), description.toLowerCase()];
    if (name.includes(wanted)) return 0;
    if (rest.includes(wanted)) return 1;
    return words.every((word) => name.includes(word) || rest.includes(word)) ? 2 : NOT_FOUND;
  };
  const ranked = groups
    .map(({ group, actions }) => ({
      group,
      actions: actions
        .map((action) => ({ action, rank: rank(action) }))
        .filter((each) => each.rank < NOT_FOUND)
        .toSorted((a, b) => a.rank - b.rank),
    }))
    .filter(({ actions }) => actions.length > 0)
    .toSorted((a, b) => (a.actions[0]?.rank ?? NOT_FOUND) - (b.actions[0]?.rank ?? NOT_FOUND));
  let left = most;
  const shown: Group<A>[] = [];
  for (const { group, actions } of ranked) {
    if (left <= 0) break;
    shown.push({ group, actions: actions.slice(0, left).map(({ action }) => action) });
    left -= actions.length;
  }
  return [...shown, ...always];
}
