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
const absolute = new Intl.DateTimeFormat("en", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});
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

export function inFull(moment: string | number): string {
  return absolute.format(new Date(moment));
}

/** "2026-11-23 04:05:06 UTC+01:00": to the second, with the distance from UTC. */
export function exactly(moment: string | number): string {
  const at = new Date(moment);
  const here = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return `${here.slice(0, 10)} ${here.slice(11, 19)} ${utcOffset(at)}`;
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
