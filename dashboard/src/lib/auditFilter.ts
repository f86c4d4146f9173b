/** The filters of a project's audit, in the URL and as the API takes them. */

import type { operations } from "../api/schema";

type AuditAction = NonNullable<NonNullable<operations["list_project_changes"]["parameters"]["query"]>["action"]>;

export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly flag?: string;
  readonly environment?: string;
  /** Local times, as fields for times have them: "2026-11-23T04:05". */
  readonly since?: string;
  readonly until?: string;
}

const TEXTS = ["actor", "action", "flag", "environment"] as const;
const TIMES = ["since", "until"] as const;

export function toAuditSearch(raw: Record<string, unknown>): AuditSearch {
  const found: Record<string, string> = {};
  for (const name of TEXTS) {
    const value = raw[name];
    if (typeof value === "number") found[name] = String(value);
    else if (typeof value === "string" && value) found[name] = value;
  }
  for (const name of TIMES) {
    const value = raw[name];
    if (typeof value === "string" && isTime(value)) found[name] = value;
  }
  return found;
}

/** The query of the API, with its times in UTC. */
export function queryOf({ actor, action, flag, environment, since, until }: AuditSearch) {
  return {
    ...(actor?.trim() && { actor: actor.trim() }),
    ...(action && { action: action as AuditAction }),
    ...(flag?.trim() && { flag_key: flag.trim() }),
    ...(environment && { environment }),
    ...(since && { since: new Date(since).toISOString() }),
    ...(until && { until: new Date(until).toISOString() }),
  };
}

/** A year that is still being typed begins with zeros. */
export function isTime(value: string): boolean {
  return /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value));
}
