import { expect, it } from "vitest";
import { needsOf } from "./needs";

function flag(key: string, ...needed: string[]) {
  return { key, prerequisites: needed.map((each) => ({ flag_key: each })) };
}

it("shows a flag alone that neither needs others nor is needed", () => {
  expect(needsOf([flag("a"), flag("b", "c"), flag("c")], "a")).toEqual({ columns: [["a"]], needs: [] });
});

it("follows prerequisites in both directions", () => {
  const flags = [flag("d", "c"), flag("c", "b"), flag("b", "a"), flag("a")];
  expect(needsOf(flags, "b").columns).toEqual([["a"], ["b"], ["c"], ["d"]]);
  expect(needsOf(flags, "a").columns).toEqual([["a"], ["b"], ["c"], ["d"]]);
  expect(needsOf(flags, "d").needs.map((each) => each.needed)).toEqual(["c", "b", "a"]);
});

it("puts a flag to the right of all that it needs, by the longest way", () => {
  const flags = [flag("d", "a", "c"), flag("c", "b"), flag("b", "a"), flag("a")];
  expect(needsOf(flags, "d").columns).toEqual([["a"], ["b"], ["c"], ["d"]]);
  expect(needsOf(flags, "a").columns).toEqual([["a"], ["b"], ["c"], ["d"]]);
});

it("leaves out flags that only need the same flags", () => {
  const flags = [flag("base"), flag("a", "base"), flag("b", "base")];
  const { columns, needs } = needsOf(flags, "a");
  expect(columns).toEqual([["base"], ["a"]]);
  expect(needs.map(({ needed, needing }) => [needed, needing])).toEqual([["base", "a"]]);
});

it("ends even where flags that changed meanwhile seem to form a cycle", () => {
  const { columns } = needsOf([flag("a", "b"), flag("b", "a")], "a");
  expect(columns.flat()).toContain("b");
});
