/** Moments as fields for times have them, in the time zone of this device, and the changes that can be scheduled. */

import type { NewRelease } from "./releasesCalls";
import { utcOffset } from "../../ui/time";

const HOUR_MILLISECONDS = 3_600_000;

export interface ScheduleDraft {
  /** The id of a rule; empty for the flag itself. */
  readonly rule: string;
  readonly to: "on" | "off";
  /** "2026-11-28T09:00". */
  readonly at: string;
  readonly name: string;
  readonly whenLate: "run" | "skip";
}

/** A moment in a field for times. */
export function localMoment(moment: Date): string {
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The next full hour that is at least half an hour away. */
export function nextHour(now: number): string {
  const at = new Date(now + 1.5 * HOUR_MILLISECONDS);
  at.setMinutes(0, 0, 0);
  return localMoment(at);
}

export type MomentProblem = "invalid" | "missing";

/**
 * The moment of a field's text, or why there is none: the text is not a time, or the clock skips it when it is put
 * forward. If the clock shows a time twice because it is put back, the first moment is used.
 */
export function readMoment(local: string): Date | MomentProblem {
  const at = new Date(local);
  if (Number.isNaN(at.getTime())) return "invalid";
  return localMoment(at) === local.slice(0, 16) ? at : "missing";
}

/** Whether the clock shows this time a second time an hour later. */
export function comesTwice(at: Date): boolean {
  return localMoment(at) === localMoment(new Date(at.getTime() + HOUR_MILLISECONDS));
}

/** The time zone of this device at a moment, such as "Europe/Berlin, UTC+01:00". */
export function zoneAt(at: Date): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const offset = utcOffset(at);
  return zone === offset ? zone : `${zone}, ${offset}`;
}

export function scheduleOf({ rule, to, name, whenLate }: ScheduleDraft, at: Date): NewRelease {
  const enabled = to === "on";
  return {
    name: name.trim() || null,
    steps: [{ at: at.toISOString(), changes: rule === "" ? { enabled } : { rules: [{ id: rule, enabled }] } }],
    when_late: whenLate,
  };
}
