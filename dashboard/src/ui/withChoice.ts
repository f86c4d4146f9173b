/** The most rows that can be chosen at once. */
export const CHOSEN_MAX = 200;

/** Chooses a row or takes the choice back. */
export function withChoice(chosen: ReadonlySet<string>, id: string, wanted: boolean): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!wanted) next.delete(id);
  else if (next.size < CHOSEN_MAX) next.add(id);
  return next;
}
