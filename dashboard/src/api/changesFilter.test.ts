import { expect, it } from "vitest";
import { queryOf, toChangesSearch } from "./changesFilter";

it.each([
  [{}, {}],
  [
    { actor: "ada@example.com", flag: 42, environment: "", since: "soon", x: "y" },
    { actor: "ada@example.com", flag: "42" },
  ],
  [
    { action: "flag.toggled", until: "2026-11-23T04:05" },
    { action: "flag.toggled", until: "2026-11-23T04:05" },
  ],
  [{ last: "hour" }, { last: "hour" }],
  [{ last: "toString" }, {}],
  [{ last: 3 }, {}],
  [{ since: "0002-11-23T04:05" }, {}],
  [{ since: "yesterday" }, {}],
  [{ last: "day", since: "2026-11-23T04:05" }, { last: "day" }],
])("reads %o as %o", (raw, search) => {
  expect(toChangesSearch(raw)).toEqual(search);
});

it("asks with trimmed texts and times in UTC", () => {
  const at = new Date("2026-11-23T04:05").toISOString();
  expect(queryOf({ actor: " ada@example.com ", flag: " ", since: "2026-11-23T04:05" }, 0)).toEqual({
    actor: "ada@example.com",
    since: at,
  });
  expect(queryOf({ last: "hour" }, Date.parse("2026-11-23T10:00:59Z"))).toEqual({ since: "2026-11-23T09:00:00.000Z" });
});
