/** The badges of the states of releases. The words say the same. */

import type { ReleaseState } from "./releaseState";

export const STATE_COLOURS: Readonly<Record<ReleaseState, object>> = {
  scheduled: { variant: "default" },
  running: { color: "live.8" },
  paused: { color: "yellow.9" },
  done: { variant: "default" },
  stopped: { color: "alarm.8" },
  cancelled: { variant: "default" },
  failed: { color: "alarm.8" },
};
