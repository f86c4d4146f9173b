/** Adds the newest entries to the pages of a history, which are sorted with the newest entry first. */

interface Entry {
  readonly id: string;
  readonly evaluated_at: string;
}

export interface PageOf<E extends Entry> {
  readonly items: readonly E[];
  readonly next_cursor: string | null;
}

/** The number of entries to ask for at once: the most that the API returns. */
export const MOST_NEW = 100;
const MOST_ON_FIRST_PAGE = 200;
/** Instances record their evaluations in batches, so that an entry can be older than one that was there before it. */
const LATE_MILLISECONDS = 5_000;

/** The time from which entries are loaded, so that none is missed that was recorded late. */
export function sinceNewest(newest: Entry): string {
  return new Date(Date.parse(newest.evaluated_at) - LATE_MILLISECONDS).toISOString();
}

/**
 * The pages with the entries that are not among them added to the first one; null if the first page has to be loaded
 * again, because entries may be missing between these and the known ones, or because it has become too long.
 */
export function withNewest<E extends Entry>(
  pages: readonly PageOf<E>[],
  found: readonly E[],
): readonly PageOf<E>[] | null {
  const [first, ...older] = pages;
  const known = new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
  const added = found.filter(({ id }) => !known.has(id));
  if (first === undefined || added.length === MOST_NEW) return null;
  if (added.length === 0) return pages;
  if (first.items.length + added.length > MOST_ON_FIRST_PAGE) return null;
  return [{ ...first, items: [...added, ...first.items].toSorted(newestFirst) }, ...older];
}

function newestFirst(a: Entry, b: Entry): number {
  if (a.evaluated_at !== b.evaluated_at) return a.evaluated_at < b.evaluated_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}
