/** Imports lead downwards: from the app to the features, to `ui` and to `api`, and from a feature only to lower ones. */

import { expect, it } from "vitest";

/** From the highest to the lowest; ARCHITECTURE.md says what each has. */
const FEATURES = [
  "overview",
  "flagList",
  "cleanup",
  "flagPage",
  "archive",
  "account",
  "administration",
  "applications",
  "playground",
  "people",
  "copying",
  "webhooks",
  "credentials",
  "projects",
  "releases",
  "requestMetrics",
  "segments",
  "history",
  "audit",
  "flags",
  "metrics",
  "views",
  "explanations",
  "comments",
  "notifications",
  "identity",
];
const LAYERS = ["app", ...FEATURES, "ui", "api"];

const SOURCES = import.meta.glob<string>(["./**/*.{ts,tsx}", "!./api/schema.d.ts", "!./*.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

function layerOf(path: string): string {
  const [, first = "", second = ""] = path.split("/");
  return first === "features" ? second : first;
}

function importsOf(path: string, source: string): string[] {
  const specifiers = [...source.matchAll(/(?:\bfrom|\bimport|\bimport\(|new URL\()\s*"(\.[^"?]+)"/g)];
  return specifiers.map(([, specifier = ""]) => new URL(specifier, `file:/src/${path}`).pathname.replace("/src", "."));
}

it("has a place in the order for each folder, and a folder for each place", () => {
  expect([...new Set(Object.keys(SOURCES).map(layerOf))].sort()).toEqual([...LAYERS].sort());
});

it("imports no higher layer", () => {
  const upwards = Object.entries(SOURCES).flatMap(([path, source]) =>
    importsOf(path, source)
      .filter((imported) => LAYERS.indexOf(layerOf(imported)) < LAYERS.indexOf(layerOf(path)))
      .map((imported) => `${path} imports ${imported}`),
  );
  expect(upwards).toEqual([]);
});
