import { expect, it } from "vitest";
import type { Flag, Rule } from "../../api/client";
import type { Summary } from "../history/historyCalls";
import { choicesOf, rowsOf, selectRows } from "./flagRows";

const flag = (key: string, values: Partial<Flag> = {}): Flag => ({
  id: key,
  project_id: "p",
  environment_id: "e",
  name: key.toUpperCase(),
  key,
  description: null,
  enabled: true,
  rollout_percentage: 0,
  fallthrough: "rollout",
  bucketing_key: null,
  stickiness: "default",
  tags: [],
  variants: [],
  prerequisites: [],
  archived_at: null,
  owner: null,
  keep: false,
  created_at: "2026-11-20T10:00:00.000000Z",
  updated_at: "2026-11-20T10:00:00.000000Z",
  ...values,
});
const rules = new Map([
  [
    "b",
    [
      { enabled: true, rollout_percentage: 100, updated_at: "2026-11-21T10:00:00.000000Z" },
      { enabled: false, rollout_percentage: 100, updated_at: "2026-11-20T11:00:00.000000Z" },
    ] as Rule[],
  ],
]);
const summary: Summary = {
  since: "2026-11-20T10:00:00.000000Z",
  until: "2026-11-20T12:00:00.000000Z",
  interval: "1h",
  predecessors: [],
  tz: "UTC",
  flags: { a: [{ start: "2026-11-20T11:00:00.000000Z", on: 3, off: 1, reasons: {}, off_reasons: [] }] },
};
const rows = rowsOf(
  [
    flag("b", { enabled: false, description: "Checkout in one page" }),
    flag("a", { rollout_percentage: 25, tags: ["Payments"] }),
  ],
  rules,
  summary,
);
const found = (search: Parameters<typeof selectRows>[1]) => selectRows(rows, search).map((row) => row.flag.key);

it("counts only enabled rules and days with evaluations", () => {
  expect(rows.map((row) => [row.rulesInForce?.count, row.day?.on, row.day?.lastSeen])).toEqual([
    [1, 0, null],
    [0, 3, Date.parse("2026-11-20T12:00:00Z")],
  ]);
});

it("finds every word of a search in any order and case", () => {
  expect(found({ q: "PAGE checkout" })).toEqual(["b"]);
  expect(found({ q: "page nothing" })).toEqual([]);
  expect(found({ q: "payments" })).toEqual(["a"]);
});

it("filters and sorts", () => {
  expect(found({ state: "on" })).toEqual(["a"]);
  expect(found({ audience: "rules" })).toEqual(["b"]);
  expect(found({ audience: "rollout" })).toEqual(["a"]);
  expect(found({ audience: "everyone" })).toEqual([]);
  expect(found({ seen: "quiet" })).toEqual(["b"]);
  expect(found({ sort: "name" })).toEqual(["a", "b"]);
  expect(found({ sort: "evaluated" })).toEqual(["a", "b"]);
});

it("hides nothing by its last day or its rules until these are known", () => {
  expect(selectRows(rowsOf([flag("a")], undefined, undefined), { seen: "quiet" })).toHaveLength(1);
  expect(selectRows(rowsOf([flag("a")], undefined, undefined), { audience: "rules" })).toHaveLength(1);
});

it("handles keys that every object inherits", () => {
  expect(rowsOf([flag("constructor")], undefined, summary)[0]?.day?.lastSeen).toBeNull();
});

it("filters by tag, owner and favourites, and shows favourites first", () => {
  const owned = rowsOf([flag("x", { owner: "Ada", tags: ["a b"] }), flag("y"), flag("z")], rules, summary);
  const keys = (...[search, favourites]: [Parameters<typeof selectRows>[1], string[]?]) =>
    selectRows(owned, search, new Set(favourites)).map((row) => row.flag.key);
  expect([keys({ tag: "a b" }), keys({ tag: "a" }), keys({ owner: "Ada" })]).toEqual([["x"], [], ["x"]]);
  expect([keys({ favourites: true }), keys({ favourites: true }, ["z"])]).toEqual([[], ["z"]]);
  expect(keys({ sort: "name" }, ["z", "y"])).toEqual(["y", "z", "x"]);
});

it("offers the most frequent values and the chosen one", () => {
  expect(choicesOf(["b", "c", "b", "a"], undefined, 2)).toEqual(["b", "c"]);
  expect(choicesOf(["b", "c", "b", "a"], "z", 1)).toEqual(["b", "z"]);
});

it("takes a change to a rule for one of its flag", () => {
  expect(rows.map((row) => row.changedAt)).toEqual(["2026-11-21T10:00:00.000000Z", "2026-11-20T10:00:00.000000Z"]);
  expect(selectRows([...rows].reverse(), { sort: "changed" }).map((row) => row.flag.key)).toEqual(["b", "a"]);
  // Until the rules are known.
  expect(rowsOf([flag("b")], undefined, summary)[0]?.changedAt).toBe("2026-11-20T10:00:00.000000Z");
});
