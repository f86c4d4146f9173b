/**
 * The time zone of the days and hours of charts: that of this browser, or UTC. The choice is kept in the browser, because
 * the zone depends on where people work.
 */

import { storedChoice } from "../storedChoice";

const inUtc = storedChoice("flagstaff.charts-in-utc");
/** The names that the API accepts. A browser without a known zone has another, such as "Etc/Unknown" or "+02:00". */
const NAME = /^(?!Etc\/Unknown$)[A-Z][\w+-]*(?:\/[\w+-]+)*$/;
const UTC = "UTC";

function localZone(): string {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return NAME.test(name) ? name : UTC;
}

/** The zones to choose from: one or two. */
export function zoneChoices(): readonly string[] {
  return [...new Set([localZone(), UTC])];
}

/** The zone by its name in the IANA database, such as "Europe/Berlin". */
export function chartZone(): string {
  return inUtc.isMade() ? UTC : localZone();
}

export function chooseChartZone(zone: string): void {
  inUtc.make(zone === UTC);
}

/** The zone, in all tabs of this browser. */
export function useChartZone(): string {
  return inUtc.useIsMade() ? UTC : localZone();
}
