/** Whether a release has ended. */

import type { Release } from "../api/releases";

const OPEN: readonly Release["state"][] = ["scheduled", "running", "paused"];

export function isOpen({ state }: Pick<Release, "state">): boolean {
  return OPEN.includes(state);
}
