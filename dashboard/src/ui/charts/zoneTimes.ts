/**
 * The intervals of a time zone, as the API divides time: days begin at midnight there, and hours are counted from it.
 * Where clocks are changed, days and parts of days have other lengths. Times and steps are milliseconds.
 */

import { utcOffsetMilliseconds as offsetAt } from "../time";

const HOUR = 3_600_000;

/** The start of the interval that has a moment. */
export function startIn(zone: string, moment: number, step: number): number {
  const local = moment + offsetAt(moment, zone);
  return momentOf(zone, Math.floor(local / step) * step, moment);
}

/** The end of an interval, where the next one starts. */
export function endIn(zone: string, start: number, step: number): number {
  if (step <= HOUR) return start + step;
  const local = start + offsetAt(start, zone);
  return momentOf(zone, (Math.floor(local / step) + 1) * step, start);
}

/** The starts of the intervals from one to the end of another. */
export function startsIn(zone: string, since: number, until: number, step: number): number[] {
  const starts = [];
  for (let start = since; start < until; start = endIn(zone, start, step)) starts.push(start);
  return starts;
}

/** When the clocks of a zone show a time. Near a change of clocks, those of `beside` decide, as in the API. */
function momentOf(zone: string, local: number, beside: number): number {
  const guess = local - offsetAt(beside, zone);
  const moment = local - offsetAt(guess, zone);
  return moment + offsetAt(moment, zone) === local ? moment : guess;
}
