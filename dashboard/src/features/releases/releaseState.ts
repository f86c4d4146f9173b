/** The states of releases, and which of them have not ended. */

import type { components } from "../../api/schema";

export type ReleaseState = components["schemas"]["ReleaseOut"]["state"];

const OPEN: readonly ReleaseState[] = ["scheduled", "running", "paused"];

export function isOpen({ state }: { readonly state: ReleaseState }): boolean {
  return OPEN.includes(state);
}
