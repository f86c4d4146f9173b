/** Flags that are created like one in another environment. */

import type { Flag, NewFlag } from "../../api/client";

/** Whether each field of a flag is taken over: what is for people, and what assigns users to buckets. */
const TAKEN_OVER = {
  name: true,
  key: true,
  description: true,
  tags: true,
  owner: true,
  keep: true,
  stickiness: true,
  bucketing_key: true,
  enabled: false,
  rollout_percentage: false,
  fallthrough: false,
  variants: false,
  prerequisites: false,
} as const satisfies Record<keyof NewFlag, boolean>;

/** The flag for another environment: off there, and without its audience, variants and prerequisites. */
export function withoutAudience(flag: Flag): NewFlag {
  const taken = Object.entries(flag).filter(([name]) => name in TAKEN_OVER && TAKEN_OVER[name as keyof NewFlag]);
  return { ...(Object.fromEntries(taken) as Pick<Flag, "name" | "key">), rollout_percentage: 0 };
}
