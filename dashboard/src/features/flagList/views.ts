/** Which saved view a filter is, and who may save views. */

import type { OwnPermissions } from "../../api/members";
import type { FlagsSearch } from "../../ui/search";

export function isSameSearch(a: object, b: object): boolean {
  return textOf(a) === textOf(b);
}

/** The view that a filter is, if it is one. */
export function currentView<View extends { readonly search: object }>(
  views: readonly View[],
  search: FlagsSearch,
): View | undefined {
  return views.find((view) => isSameSearch(view.search, search));
}

/** A view changes no flag, so everyone who may change flags in some environment may save one. */
export function maySaveViews(own: OwnPermissions | undefined): boolean {
  if (!own) return false;
  return [own.permissions, ...Object.values(own.environments)].some((each) => each.includes("flags:write"));
}

function textOf(search: object): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined);
  return JSON.stringify(set.toSorted(([a], [b]) => a.localeCompare(b)));
}
