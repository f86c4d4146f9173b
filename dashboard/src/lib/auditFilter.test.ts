import { expect, it } from "vitest";
import { queryOf, toAuditSearch } from "./auditFilter";

it("reads the URL leniently and leaves out what it does not know", () => {
  const raw = { actor: "ada@example.com", flag: 42, environment: "", since: "soon", x: "y" };
  expect(toAuditSearch(raw)).toEqual({ actor: "ada@example.com", flag: "42" });
  expect(toAuditSearch({ action: "flag.toggled", until: "2026-11-23T04:05" })).toEqual({
    action: "flag.toggled",
    until: "2026-11-23T04:05",
  });
  expect(toAuditSearch({ since: "0002-11-23T04:05" })).toEqual({});
});

it("asks with trimmed texts and times in UTC", () => {
  const at = new Date("2026-11-23T04:05").toISOString();
  expect(queryOf({ actor: " ada@example.com ", flag: " ", since: "2026-11-23T04:05" })).toEqual({
    actor: "ada@example.com",
    since: at,
  });
});
