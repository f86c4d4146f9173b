import { expect, it } from "vitest";
import type { Summary } from "../history/historyCalls";
import { countsOf } from "./counts";

const summary: Summary = {
  since: "2026-11-20T10:00:00.000000Z",
  until: "2026-11-20T12:00:00.000000Z",
  interval: "1h",
  predecessors: [],
  tz: "UTC",
  flags: {
    a: [
      { start: "2026-11-20T10:00:00.000000Z", on: 3, off: 1, reasons: {}, off_reasons: [] },
      { start: "2026-11-20T11:00:00.000000Z", on: 1, off: 0, reasons: {}, off_reasons: [] },
    ],
  },
};

it("adds up the evaluations of a flag", () => {
  expect(countsOf(summary, "a")).toEqual({ on: 4, all: 5 });
});

it("finds none for a flag that was not evaluated, whatever its key is", () => {
  expect(countsOf(summary, "constructor")).toEqual({ on: 0, all: 0 });
});
