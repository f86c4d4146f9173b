// @vitest-environment happy-dom

import { afterEach, expect, it, vi } from "vitest";
import { chartZone, chooseChartZone, zoneChoices } from "./chartZone";

function browserIn(timeZone: string): void {
  const options = new Intl.DateTimeFormat().resolvedOptions();
  vi.spyOn(Intl.DateTimeFormat.prototype, "resolvedOptions").mockReturnValue({ ...options, timeZone });
}

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

it("is the browser's zone until UTC is chosen, and again afterwards", () => {
  browserIn("Europe/Berlin");
  expect([chartZone(), zoneChoices()]).toEqual(["Europe/Berlin", ["Europe/Berlin", "UTC"]]);
  chooseChartZone("UTC");
  expect(chartZone()).toBe("UTC");
  chooseChartZone("Europe/Berlin");
  expect(chartZone()).toBe("Europe/Berlin");
});

it.each(["Etc/Unknown", "+02:00", "UTC"])("is UTC in a browser whose zone is called %s", (name) => {
  browserIn(name);
  expect([chartZone(), zoneChoices()]).toEqual(["UTC", ["UTC"]]);
});
