import { expect, it } from "vitest";
import type { Flag } from "../../api/client";
import { planOf, refusedFlags, undoable } from "./bulk";

const flags = [
  { id: "1", enabled: true, tags: ["a"] },
  { id: "2", enabled: false, tags: [] as string[] },
] as unknown as Flag[];
const changing = (...[action, tags]: [Parameters<typeof planOf>[1], string[]?]) =>
  planOf(flags, action, tags ?? []).changing.map((flag) => flag.id);

it("changes only the flags that are not yet as wanted", () => {
  expect([changing("enable"), changing("disable"), changing("archive")]).toEqual([["2"], ["1"], ["1", "2"]]);
  expect([changing("add_tags", ["a"]), changing("remove_tags", ["a", "b"])]).toEqual([["2"], ["1"]]);
  expect(changing("add_tags")).toEqual([]);
  expect(planOf(flags, "enable", []).same.map((flag) => flag.id)).toEqual(["1"]);
});

it("finds the flags that were refused, and undoes only what takes few calls", () => {
  const fields = ["flags.1", "flags.7", "tags", "flags.0.x"].map((field) => ({ field, message: "" }));
  expect(refusedFlags(fields, ["a", "b"])).toEqual(["b"]);
  expect([undoable(["1"]), undoable(Array.from({ length: 101 }, (_, place) => String(place)))]).toEqual([["1"], []]);
});
