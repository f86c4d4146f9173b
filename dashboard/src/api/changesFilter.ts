/** The filters of the changes of a project or an environment, in the URL and as the API takes them. */

import type { operations } from "./schema";
import { type ChangeTimes, startOf } from "./changePeriods";

export type Action = NonNullable<NonNullable<operations["list_project_changes"]["parameters"]["query"]>["action"]>;

export interface ChangesSearch extends ChangeTimes {
  readonly actor?: string;
  readonly action?: string;
  readonly flag?: string;
  readonly environment?: string;
}

/** The filters that are chosen one by one, apart from the time. */
export const FILTERS = ["actor", "action", "flag", "environment"] as const;
const TIMES = ["since", "until"] as const;

export function toChangesSearch(raw: Record<string, unknown>): ChangesSearch {
  const found: Record<string, string> = {};
  for (const name of FILTERS) {
    const value = raw[name];
    if (typeof value === "number") found[name] = String(value);
    else if (typeof value === "string" && value) found[name] = value;
  }
  const { last } = raw;
  if (last === "hour" || last === "day" || last === "week") return { ...found, last };
  for (const name of TIMES) {
    const value = raw[name];
    if (typeof value === "string" && isTime(value)) found[name] = value;
  }
  return found;
}

/** The query of the API, with its times in UTC. */
export function queryOf(search: ChangesSearch, now: number) {
  const { actor, action, flag, environment, until } = search;
  const since = startOf(search, now);
  return {
    ...(actor?.trim() && { actor: actor.trim() }),
    ...(action && { action: action as Action }),
    ...(flag?.trim() && { flag_key: flag.trim() }),
    ...(environment && { environment }),
    ...(since && { since }),
    ...(until && { until: new Date(until).toISOString() }),
  };
}

/** A year that is still being typed begins with zeros. */
function isTime(value: string): boolean {
  return /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value));
}
