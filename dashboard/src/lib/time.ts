/** Formats times for people. */

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });
const date = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric" });
const dateInUtc = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const hour = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const dayInUtc = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

/** "3 min ago"; null for the last minute and, because clocks differ, for times in the future. */
export function ago(moment: string, now: number): string | null {
  const seconds = (now - Date.parse(moment)) / 1000;
  for (const [unit, size] of UNITS) {
    if (seconds >= size) return relative.format(-Math.floor(seconds / size), unit);
  }
  return null;
}

/** How long something takes, as in "25 seconds" or "3 minutes"; rounded down. */
export function lasting(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size] = UNITS.find((each) => seconds >= each[1]) ?? ["second", 1];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** "Nov 23, 2026, 04:05:06 UTC+01:00". Every moment that is not relative has this form, or a part of it. */
export function inFull(moment: string | number): string {
  const at = new Date(moment);
  return `${date.format(at)}, ${clock.format(at)} ${utcOffset(at)}`;
}

/** "Nov 20, 2026": a day that is the same in every time zone. */
export function dateOf(moment: string): string {
  return dateInUtc.format(new Date(moment));
}

/** "Nov 28, 2026, 09:00 UTC". */
export function inUtc(at: Date): string {
  return `${dateInUtc.format(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** How far the time zone of this device is from UTC at a moment, as in "UTC+01:00". */
export function utcOffset(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}

/** The time of day, preceded by the date if it is not today. */
export function timeOfDay(moment: string | number, now: number): string {
  const at = new Date(moment);
  const today = at.toDateString() === new Date(now).toDateString();
  return today ? clock.format(at) : `${day.format(at)}, ${clock.format(at)}`;
}

/** A label for the axis of a chart whose intervals are `seconds` long. */
export function axisLabel(moment: number, seconds: number): string {
  return seconds >= 6 * 3_600 ? day.format(moment) : hour.format(moment);
}

/** The day, as the server counts days. */
export function utcDay(moment: number): string {
  return dayInUtc.format(moment);
}
