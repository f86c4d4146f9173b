/** Flags that are created like one in another environment. */

import type { Flag, NewFlag } from "../../api/client";

const IDENTITY = ["id", "project_id", "environment_id", "created_at", "updated_at", "archived_at"] as const;
const AUDIENCE = ["enabled", "rollout_percentage", "fallthrough", "variants", "prerequisites"] as const;
const LEFT_OUT: ReadonlySet<string> = new Set([...IDENTITY, ...AUDIENCE]);

/** All other fields of a flag. One that a new flag cannot have does not compile. */
type Taken = Pick<NewFlag, Exclude<keyof Flag, (typeof IDENTITY)[number] | (typeof AUDIENCE)[number]>>;

/** The flag for another environment: off there, and without its audience, variants and prerequisites. */
export function withoutAudience(flag: Flag): NewFlag {
  const taken = Object.entries(flag).filter(([name]) => !LEFT_OUT.has(name));
  return { ...(Object.fromEntries(taken) as Taken), rollout_percentage: 0 };
}
