import { expect, it } from "vitest";
import { Problem } from "../../../api/problem";
import { faultOf, variantsDraftOf, variantsOf, withAdded, withRemoved } from "./variantDrafts";

it("gives back the variants that it was given", () => {
  for (const value of ["it's", 'a "quoted" text', -0.5, true, { colour: "blue", sizes: [1, 2] }]) {
    const variants = [{ key: "a", weight: 1, value: value as string }];
    expect(variantsOf(variantsDraftOf(variants))).toEqual(variants);
  }
});

it.each([
  ["number", "0x10"],
  ["number", "NaN"],
  ["number", '"42"'],
  ["number", ""],
  ["boolean", "yes"],
  ["boolean", "null"],
  ["object", "{colour: blue}"],
  ["object", "[1]"],
  ["object", "null"],
  ["object", '"text"'],
] as const)("refuses as a %s: %s", (type, text) => {
  expect(faultOf(type, text)).toContain("must be");
});

it("accepts any text as text, and JSON as the other types", () => {
  const accepted = [
    ["string", ""],
    ["string", "{"],
    ["number", "-1e3"],
    ["boolean", "false"],
    ["object", "{}"],
  ] as const;
  for (const [type, text] of accepted) expect(faultOf(type, text)).toBeNull();
});

it("names the values that are invalid by their place", () => {
  const variant = (text: string) => ({ key: "a", weight: 500, text });
  const draft = { type: "number", variants: [variant("1"), variant("one"), variant("")] } as const;
  const refusal = (() => {
    try {
      return variantsOf(draft);
    } catch (error) {
      return error;
    }
  })();
  expect((refusal as Problem).fields.map((each) => each.field)).toEqual(["variants.1.value", "variants.2.value"]);
});

it("starts with two variants, and divides the users whenever one is added or removed", () => {
  const { variants } = variantsDraftOf([]);
  expect(variants.map((each) => each.weight)).toEqual([500, 500]);
  const three = withAdded(variants);
  expect(three.map((each) => each.weight)).toEqual([334, 333, 333]);
  expect(withRemoved(three, 0).map((each) => each.weight)).toEqual([500, 500]);
});
