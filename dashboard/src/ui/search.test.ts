// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";
import { safeNext, toFlagsSearch, toHistorySearch } from "./search";

describe("safeNext", () => {
  it.each([
    undefined,
    "",
    "//evil.example",
    "/.//evil.example",
    "https://evil.example/",
    "\\\\evil.example",
    "javascript:alert(1)",
    "http://[",
  ])("leads home from %j", (next) => {
    expect(safeNext(next)).toBe("/");
  });

  it("keeps one of our paths with its filters", () => {
    expect(safeNext("/projects/1?q=a%20b")).toBe("/projects/1?q=a%20b");
  });
});

it("leaves out defaults and unknown values", () => {
  expect(toFlagsSearch({ q: "", state: "all", audience: "nobody", sort: "name", x: 1 })).toEqual({ sort: "name" });
});

it("reads a number in the URL as text", () => {
  expect(toHistorySearch({ user: 42, period: "week" })).toEqual({ user: "42", period: "week" });
});
