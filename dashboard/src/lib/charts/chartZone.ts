/**
 * The time zone of the days and hours of charts: that of this browser, or UTC. The choice is kept in the browser, because
 * the zone depends on where people work.
 */

import { useSyncExternalStore } from "react";

const STORAGE_KEY = "flagstaff.charts-in-utc";
/** The names that the API accepts. A browser without a known zone has another, such as "Etc/Unknown" or "+02:00". */
const NAME = /^(?!Etc\/Unknown$)[A-Z][\w+-]*(?:\/[\w+-]+)*$/;
const UTC = "UTC";

const listeners = new Set<() => void>();

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
  return localStorage.getItem(STORAGE_KEY) === null ? localZone() : UTC;
}

export function chooseChartZone(zone: string): void {
  if (zone === UTC) localStorage.setItem(STORAGE_KEY, "yes");
  else localStorage.removeItem(STORAGE_KEY);
  for (const listener of listeners) listener();
}

/** The zone, in all tabs of this browser. */
export function useChartZone(): string {
  return useSyncExternalStore(onChange, chartZone);
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener); // another tab
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}
