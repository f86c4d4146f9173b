/** Favourites among flags. */

/** The items whose flags are favourites, and then the others, both in their order. */
export function favouritesFirst<Item>(
  items: readonly Item[],
  favourites: ReadonlySet<string>,
  flagOf: (item: Item) => { readonly key: string },
): Item[] {
  const isFirst = (item: Item) => favourites.has(flagOf(item).key);
  return favourites.size === 0 ? [...items] : [...items.filter(isFirst), ...items.filter((item) => !isFirst(item))];
}
