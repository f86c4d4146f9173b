import { describe, expect, it } from "vitest";
import { changedFields, type Fields } from "../../api/equal";
import { isSettled, merge, type Side } from "./merge";

const condition = (attribute: string, values: readonly string[], operator = "in") => ({
  attribute,
  operator,
  values,
  case_insensitive: false,
  negate: false,
});
const variants = (weights: Readonly<Record<string, number>>, values: Readonly<Record<string, unknown>> = {}) =>
  Object.entries(weights).map(([key, weight]) => ({ key, weight, value: values[key] ?? key }));

/** The merge if every conflict is decided for one side. */
function settled(base: Fields, mine: Fields, theirs: Fields, side: Side): Fields {
  const { conflicts } = merge(base, mine, theirs);
  const choices = Object.fromEntries(conflicts.map(({ id }) => [id, side]));
  const again = merge(base, mine, theirs, choices);
  expect(isSettled(again.conflicts)).toBe(true);
  return again.merged;
}

describe("a merge", () => {
  it("takes what only one has changed", () => {
    const base = { name: "A", description: null, keep: false };
    const { merged, conflicts } = merge(base, { ...base, name: "B" }, { ...base, description: "new" });
    expect(conflicts).toEqual([]);
    expect(merged).toEqual({ name: "B", description: "new", keep: false });
  });

  it("asks about a field that both have changed, and leaves it to the other until then", () => {
    const { merged, conflicts } = merge({ name: "A" }, { name: "B" }, { name: "C" });
    expect(conflicts).toMatchObject([{ field: "name", part: "", mine: "B", theirs: "C" }]);
    expect(merged).toEqual({ name: "C" });
    expect(settled({ name: "A" }, { name: "B" }, { name: "C" }, "mine")).toEqual({ name: "B" });
    expect(settled({ name: "A" }, { name: "B" }, { name: "C" }, "theirs")).toEqual({ name: "C" });
  });

  it("does not ask if both have changed a field to the same value", () => {
    expect(merge({ name: "A" }, { name: "B" }, { name: "B" }).conflicts).toEqual([]);
  });

  it("asks again if the other has changed the value again", () => {
    const { conflicts } = merge({ name: "A" }, { name: "B" }, { name: "C" });
    const choices = { [conflicts[0]?.id ?? ""]: "mine" as const };
    expect(isSettled(merge({ name: "A" }, { name: "B" }, { name: "C" }, choices).conflicts)).toBe(true);
    expect(isSettled(merge({ name: "A" }, { name: "B" }, { name: "D" }, choices).conflicts)).toBe(false);
  });

  it("merges only the fields that are edited", () => {
    expect(merge({ name: "A", enabled: true }, { name: "B" }, { name: "A", enabled: false }).merged).toEqual({
      name: "B",
    });
  });

  it("adds and removes the tags of both", () => {
    const { merged, conflicts } = merge(
      { tags: ["a", "b", "2"] },
      { tags: ["a", "2", "mine"] },
      { tags: ["b", "2", "theirs"] },
    );
    expect(conflicts).toEqual([]);
    expect(merged.tags).toEqual(["2", "theirs", "mine"]);
  });

  it("keeps the order of tags that nobody has changed", () => {
    expect(merge({ tags: ["b", "2", "a"] }, { tags: ["b", "2", "a"] }, { tags: ["b", "2", "a"] }).merged.tags).toEqual([
      "b",
      "2",
      "a",
    ]);
  });
});

describe("variants", () => {
  const base = { variants: variants({ blue: 100, green: 800, red: 100 }) };

  it("keep the weights of the one and take the values of the other", () => {
    const mine = { variants: variants({ blue: 100, green: 800, red: 100 }, { blue: "azure" }) };
    const theirs = { variants: variants({ blue: 1, green: 1, red: 998 }) };
    const { merged, conflicts } = merge(base, mine, theirs);
    expect(conflicts).toEqual([]);
    expect(merged.variants).toEqual(variants({ blue: 1, green: 1, red: 998 }, { blue: "azure" }));
  });

  it("ask for all weights together if both have changed them", () => {
    const mine = { variants: variants({ blue: 250, green: 250, red: 250, grey: 250 }) };
    const theirs = { variants: variants({ blue: 1, green: 1, red: 998 }) };
    expect(merge(base, mine, theirs).conflicts).toMatchObject([{ field: "variants", part: "weights" }]);
    expect(settled(base, mine, theirs, "mine").variants).toEqual(mine.variants);
    expect(settled(base, mine, theirs, "theirs").variants).toEqual(
      variants({ blue: 1, green: 1, red: 998, grey: 250 }),
    );
  });

  it("ask about a variant that the one has removed and the other has changed", () => {
    const mine = { variants: variants({ blue: 100, green: 800, red: 100 }, { red: "crimson" }) };
    const theirs = { variants: variants({ blue: 200, green: 800 }) };
    const { conflicts } = merge(base, mine, theirs);
    expect(conflicts).toMatchObject([{ part: "#red", mine: "crimson", theirs: undefined }]);
    expect(settled(base, mine, theirs, "theirs").variants).toEqual(theirs.variants);
    expect(settled(base, mine, theirs, "mine").variants).toEqual(
      variants({ blue: 200, green: 800, red: 100 }, { red: "crimson" }),
    );
  });

  it("of both are added", () => {
    const mine = { variants: [...base.variants, { key: "m", weight: 0, value: "m" }] };
    const theirs = { variants: [...base.variants, { key: "t", weight: 0, value: "t" }] };
    expect((settled(base, mine, theirs, "theirs").variants as { key: string }[]).map(({ key }) => key)).toEqual([
      "blue",
      "green",
      "red",
      "t",
      "m",
    ]);
  });

  it("stay in the order of the one who has changed them alone", () => {
    const mine = { variants: variants({ navy: 100, green: 800, red: 100 }) };
    expect(merge(base, mine, base).merged).toEqual(mine);
    expect(merge(base, base, mine).merged).toEqual(mine);
  });

  it("with the same key twice are one value", () => {
    const twice = { variants: [...base.variants, ...base.variants] };
    const theirs = { variants: variants({ blue: 1 }) };
    expect(merge(base, twice, theirs).conflicts).toMatchObject([{ field: "variants", part: "" }]);
  });
});

describe("conditions", () => {
  const base = { conditions: [condition("country", ["de", "fr"]), condition("plan", ["pro"])] };

  it("are merged one by one, and their lists value by value", () => {
    const mine = { conditions: [condition("country", ["de", "fr", "it"]), condition("plan", ["pro"])] };
    const theirs = { conditions: [condition("country", ["fr", "es"]), condition("beta", ["true"])] };
    const { merged, conflicts } = merge(base, mine, theirs);
    expect(conflicts).toEqual([]);
    expect(merged.conditions).toEqual([condition("country", ["fr", "es", "it"]), condition("beta", ["true"])]);
  });

  it("ask if the one has removed a condition that the other has changed", () => {
    const mine = { conditions: [condition("plan", ["pro"])] };
    const theirs = { conditions: [condition("country", ["de"]), condition("plan", ["pro"])] };
    expect(merge(base, mine, theirs).conflicts).toMatchObject([{ mine: undefined, theirs: ["de"] }]);
  });

  it("ask rather than leave a list without values", () => {
    const mine = { conditions: [condition("country", ["de"]), condition("plan", ["pro"])] };
    const theirs = { conditions: [condition("country", ["fr"]), condition("plan", ["pro"])] };
    expect(merge(base, mine, theirs).conflicts).toHaveLength(1);
  });

  it("with one value ask if both have changed it", () => {
    const at = (version: string) => ({ conditions: [condition("version", [version], "semver_gt")] });
    expect(merge(at("1.0"), at("2.0"), at("3.0")).conflicts).toMatchObject([{ mine: ["2.0"], theirs: ["3.0"] }]);
  });

  it("that look alike are one value", () => {
    const alike = { conditions: [condition("a", ["1"]), condition("a", ["2"])] };
    const mine = { conditions: [condition("a", ["1"]), condition("a", ["3"])] };
    expect(merge(alike, mine, { conditions: [] }).conflicts).toMatchObject([{ part: "" }]);
    expect(merge(alike, mine, alike).merged).toEqual(mine);
  });
});

it("a rule's kind and value belong together", () => {
  const base = { rule_type: "user_id", rule_value: "ada", priority: 0 };
  const mine = { rule_type: "user_email", rule_value: "ada", priority: 0 };
  const theirs = { rule_type: "user_id", rule_value: "grace", priority: 5 };
  expect(merge(base, mine, theirs).conflicts).toMatchObject([{ field: "rule_type", part: "" }]);
  expect(settled(base, mine, theirs, "mine")).toEqual({ ...mine, priority: 5 });
});

it("roles in environments are merged one by one", () => {
  const { merged, conflicts } = merge(
    { role: "viewer", environments: { production: "viewer" } },
    { role: "viewer", environments: { production: "viewer", staging: "admin" } },
    { role: "editor", environments: {} },
  );
  expect(conflicts).toEqual([]);
  expect(merged).toEqual({ role: "editor", environments: { staging: "admin" } });
});

it("prerequisites ask about the same flag only", () => {
  const needs = (...all: [string, boolean][]) => ({
    prerequisites: all.map(([flag_key, enabled]) => ({ flag_key, enabled, variants: [] })),
  });
  expect(merge(needs(["a", true]), needs(["a", true], ["b", true]), needs(["a", false])).merged).toEqual(
    needs(["a", false], ["b", true]),
  );
  expect(merge(needs(["a", true]), needs(), needs(["a", false])).conflicts).toMatchObject([{ part: "#a" }]);
});

it("only changed fields are sent", () => {
  expect(changedFields({ name: "A", tags: ["x"], owner: null }, { name: "A", tags: ["x"], owner: "ops" })).toEqual({
    owner: "ops",
  });
  expect(changedFields({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toEqual({});
});
