/** Which instances need attention, and why. */

import type { ServingInstance } from "../../api/servingInstances";

export type Trouble = "lapsed" | "behind" | "busy";

/** A change reaches every connected instance well before this. */
const BEHIND_SECONDS = 6;
const LAG_SECONDS = 0.5;

export function troubleOf({ lease, seconds_behind: behind, load }: ServingInstance): Trouble | null {
  if (lease.state === "lapsed") return "lapsed";
  if (behind !== null && behind >= BEHIND_SECONDS) return "behind";
  if (load !== null && load.event_loop_lag_seconds >= LAG_SECONDS) return "busy";
  return null;
}
