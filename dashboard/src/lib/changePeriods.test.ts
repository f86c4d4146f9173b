import { expect, it } from "vitest";
import { startOf } from "./changePeriods";
import { toChangesSearch } from "./changesSearch";

it.each([
  [{}, {}],
  [{ last: "hour" }, { last: "hour" }],
  [{ last: "toString" }, {}],
  [{ last: 3 }, {}],
  [{ since: "2026-11-23T04:05" }, { since: "2026-11-23T04:05" }],
  [{ since: "0026-11-23T04:05" }, {}],
  [{ since: "yesterday" }, {}],
  [{ last: "day", since: "2026-11-23T04:05" }, { last: "day" }],
])("reads %o as %o", (raw, search) => {
  expect(toChangesSearch(raw)).toEqual(search);
});

it("begins at a whole minute", () => {
  const now = Date.parse("2026-11-23T10:00:59.999Z");
  expect(startOf({}, now)).toBeUndefined();
  expect(startOf({ last: "hour" }, now)).toBe("2026-11-23T09:00:00.000Z");
  expect(startOf({ last: "week" }, now)).toBe("2026-11-16T10:00:00.000Z");
  expect(startOf({ since: "2026-11-23T04:05" }, now)).toBe(new Date("2026-11-23T04:05").toISOString());
});
