/** Which of the palette's actions a query finds, and how many are shown. */

interface Action {
  readonly label?: string;
  readonly description?: string;
}

export interface Group<A extends Action> {
  readonly group: string;
  readonly actions: readonly A[];
}

/**
 * The first actions that contain the query: those whose labels do come first, and their groups, too. Groups in `always`
 * come last, whatever their number.
 */
export function foundActions<A extends Action>(
  query: string,
  groups: readonly Group<A>[],
  most: number,
  always: readonly Group<A>[] = [],
): { group: string; actions: A[] }[] {
  const wanted = query.trim().toLowerCase();
  const rank = ({ label, description }: Action) =>
    label?.toLowerCase().includes(wanted) ? 0 : description?.toLowerCase().includes(wanted) ? 1 : 2;
  const ranked = groups
    .map(({ group, actions }) => ({
      group,
      actions: actions
        .map((action) => ({ action, rank: rank(action) }))
        .filter((each) => each.rank < 2)
        .toSorted((a, b) => a.rank - b.rank),
    }))
    .filter(({ actions }) => actions.length > 0)
    .toSorted((a, b) => (a.actions[0]?.rank ?? 2) - (b.actions[0]?.rank ?? 2));
  let left = most;
  const shown: { group: string; actions: A[] }[] = [];
  for (const { group, actions } of ranked) {
    if (left <= 0) break;
    shown.push({ group, actions: actions.slice(0, left).map(({ action }) => action) });
    left -= actions.length;
  }
  return [...shown, ...always.map(({ group, actions }) => ({ group, actions: [...actions] }))];
}
