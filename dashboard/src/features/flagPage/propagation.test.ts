import { expect, it } from "vitest";
import type { Connection, Connections } from "../applications/connectionsCalls";
import { propagationInWords } from "./propagation";

const NOW = Date.parse("2026-11-20T10:00:00Z");

function given(current: number, ...late: readonly (string | null)[]): Connections {
  const connections = late.map((due_at) => ({ is_current: false, due_at })) as Connection[];
  return { revision: 7, current, total: current + late.length, connections };
}

it("says nothing where no application evaluates flags itself", () => {
  expect(propagationInWords(given(0), NOW)).toBeNull();
});

it("says that all have it", () => {
  expect(propagationInWords(given(1), NOW)).toContain("Received by the only SDK instance.");
  expect(propagationInWords(given(1_200), NOW)).toContain("Received by all 1,200 SDK instances.");
});

it("says when the last of those that have not asked yet is due", () => {
  const late = ["2026-11-20T10:00:03Z", "2026-11-20T10:00:08.2Z"];
  expect(propagationInWords(given(12, ...late), NOW)).toBe(
    "Live on the server. Received by 12 of 14 SDK instances; 2 are due within 9 s.",
  );
});

it("tells those that are overdue, or do not say when they ask, from the others", () => {
  const text = propagationInWords(given(1, "2026-11-20T10:00:01Z", "2026-11-20T09:59:00Z", null), NOW);
  expect(text).toContain("Received by 1 of 4 SDK instances;");
  expect(text).toContain("1 is due within 1 s; 2 are overdue.");
});
