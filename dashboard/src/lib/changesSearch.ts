/** The time of which an environment's changes are shown, in the URL. */

import { isTime } from "./auditFilter";

export interface ChangesSearch {
  readonly last?: "hour" | "day" | "week";
  /** A local time, as a field for times has it: "2026-11-23T04:05". */
  readonly since?: string;
}

export function toChangesSearch({ last, since }: Record<string, unknown>): ChangesSearch {
  if (last === "hour" || last === "day" || last === "week") return { last };
  return typeof since === "string" && isTime(since) ? { since } : {};
}
