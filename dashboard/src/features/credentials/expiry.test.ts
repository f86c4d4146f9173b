import { expect, it } from "vitest";
import { expiryOf, isDay } from "./expiry";

const NOW = Date.parse("2026-11-20T10:00:00Z");

it("knows a day from what is no day", () => {
  expect(isDay("2026-12-31")).toBe(true);
  for (const text of ["", "20000-01-01", "2026-13-01"]) expect(isDay(text)).toBe(false);
});

it("tells when something expires soon and when it has expired", () => {
  const at = (expires_at: string | null) => expiryOf({ expires_at }, NOW);
  expect(at(null)).toBe("never");
  expect(at("2026-11-20T10:00:00Z")).toBe("expired");
  expect(at("2026-11-27T10:00:00Z")).toBe("soon");
  expect(at("2026-11-27T10:00:01Z")).toBe("later");
});
