/** Detects that a second factor is demanded where it was not before. */

import type { QueryClient } from "@tanstack/react-query";
import { isProblem } from "./problem";

export const DEMANDED = "mfa_enrolment_required";

/**
 * Calls back when a call of a page that is already open is refused, because its data must then be loaded again. A page
 * without data says why by itself. Returns a function that stops this.
 */
export function onNewDemand(cache: QueryClient, listener: () => void): () => void {
  const stopQueries = cache.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    if (event.query.state.data !== undefined && isProblem(event.action.error, DEMANDED)) listener();
  });
  const stopMutations = cache.getMutationCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    if (isProblem(event.action.error, DEMANDED)) listener();
  });
  return () => {
    stopQueries();
    stopMutations();
  };
}
