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
const date = inZones({ year: "numeric", month: "short", day: "numeric" });
const clock = inZones({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const hour = inZones({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = inZones({ month: "short", day: "numeric" });
const offset = inZones({ timeZoneName: "longOffset" });

/** A format in each time zone. Without a zone, it is that of this device. */
function inZones(options: Intl.DateTimeFormatOptions) {
  const known = new Map<string | undefined, Intl.DateTimeFormat>();
  return (timeZone?: string): Intl.DateTimeFormat => {
    const format = known.get(timeZone) ?? new Intl.DateTimeFormat("en", { ...options, ...(timeZone && { timeZone }) });
    known.set(timeZone, format);
    return format;
  };
}

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
export function inFull(moment: string | number, zone?: string): string {
  const at = new Date(moment);
  return `${date(zone).format(at)}, ${clock(zone).format(at)} ${utcOffset(at, zone)}`;
}

/** "Nov 20, 2026": a day that is the same in every time zone. */
export function dateOf(moment: string): string {
  return date("UTC").format(new Date(moment));
}

/** "Nov 28, 2026, 09:00 UTC". */
export function inUtc(at: Date): string {
  return `${date("UTC").format(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** How far a time zone is from UTC at a moment, as in "UTC+01:00". */
export function utcOffset(at: Date | number, zone?: string): string {
  const name = offset(zone)
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName");
  return (name?.value ?? "").replace("GMT", "UTC").replace("+00:00", "");
}

/** The same in milliseconds. */
export function utcOffsetMilliseconds(at: number, zone: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(utcOffset(at, zone)) ?? [];
  const length = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === "-" ? -length : length;
}

/** The time of day, preceded by the date if it is not today. */
export function timeOfDay(moment: string | number, now: number): string {
  const at = new Date(moment);
  const today = at.toDateString() === new Date(now).toDateString();
  return today ? clock().format(at) : `${day().format(at)}, ${clock().format(at)}`;
}

/** A label for the axis of a chart whose intervals are `seconds` long. */
export function axisLabel(moment: number, seconds: number, zone?: string): string {
  return (seconds >= 6 * 3_600 ? day : hour)(zone).format(moment);
}

/** The day, as the server counts days. */
export function utcDay(moment: number): string {
  return day("UTC").format(moment);
}
