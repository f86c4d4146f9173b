/** Which instances need attention, and why. */

import type { ServingInstance } from "./servingInstancesCalls";

export type Trouble = "lapsed" | "otherKey" | "behind" | "busy";

/** A change reaches every connected instance well before this. */
const BEHIND_SECONDS = 6;
const LAG_SECONDS = 0.5;

export function troubleOf(instance: ServingInstance): Trouble | null {
  const { lease, seconds_behind: behind, same_secret_key: sameKey, load } = instance;
  if (lease.state === "lapsed") return "lapsed";
  if (sameKey === false) return "otherKey";
  if (behind !== null && behind >= BEHIND_SECONDS) return "behind";
  if (load !== null && load.event_loop_lag_seconds >= LAG_SECONDS) return "busy";
  return null;
}
