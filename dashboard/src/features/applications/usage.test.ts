import { expect, it } from "vitest";
import type { Variant } from "../../api/client";
import { keyKindOf, LANGUAGES, usageOf, WAYS, waysOf } from "./usage";

const values = {
  address: "https://flags.acme.com",
  key: "0190:production.abc",
  environment: "production",
  flag: "new-checkout",
};
const all = LANGUAGES.flatMap((language) => waysOf(language).map((way) => [language, way] as const));
const variants = (...given: Variant["value"][]) =>
  given.map((value, index) => ({ key: `v${index}`, weight: 1, value }));

it("has plain HTTP for every language, and the SDKs that exist", () => {
  expect(waysOf("curl")).toEqual(["http"]);
  expect(waysOf("php")).toEqual(["http", "unleash"]);
  for (const language of LANGUAGES.filter((each) => each !== "curl" && each !== "php")) {
    expect(waysOf(language)).toEqual(WAYS);
  }
});

it.each(all)("fills in everything for %s by %s", (language, way) => {
  for (const given of [[], variants(true), variants("a"), variants(1), variants(1.5), variants({})]) {
    const { install, code } = usageOf(language, way, given, values);
    for (const value of [values.address, values.key, values.flag]) expect(code).toContain(value);
    if (way === "http") expect(code).toContain(values.environment);
    expect(install + code).not.toMatch(/\{\{[#/\w]|undefined/);
    expect(install === "").toBe(way === "http" && !["python", "java", "rust"].includes(language));
  }
});

it.each([
  [[], "get_boolean_value"],
  [variants(true, false), "get_boolean_value"],
  [variants("a", ""), "get_string_value"],
  [variants(1, 2), "get_integer_value"],
  [variants(1, 1.5), "get_float_value"],
  [variants({}), "get_object_value"],
])("calls OpenFeature with the type of %j", (given, call) => {
  const calls = usageOf("python", "openfeature", given, values).code.match(/get_\w+_value/g);
  expect(calls).toEqual([call]);
});

it("asks Unleash's SDKs for a variant only if there are variants", () => {
  expect(usageOf("node", "unleash", [], values).code).not.toContain("getVariant");
  expect(usageOf("node", "unleash", variants("a"), values).code).not.toContain("isEnabled");
});

it("uses keys for browsers only in browsers", () => {
  expect(LANGUAGES.filter((language) => keyKindOf(language) === "browser")).toEqual(["browser"]);
});
