import { expect, it } from "vitest";
import openapi from "../../../src/flagstaff/assembly/openapi.json?raw";
import {
  isInteger,
  isNumber,
  keptInResponse,
  membersOf,
  OF_USERS,
  readJson,
  readSearchValue,
  textOf,
  writeJson,
} from "./json";

const receive = (text: string): unknown => JSON.parse(keptInResponse(text)) as unknown;

const AS_WRITTEN = [
  "2",
  "2.0",
  "-0",
  "-0.0",
  "0.10",
  "1e3",
  "1E+16",
  "1e-07",
  "10000000000000000",
  "12345678901234567890",
  "0.1234567890123456789",
  '"2.0"',
  "true",
  "null",
  '{"a":[1,2.0,{"b":3.00}],"c":"{\\"d\\":2.0}"}',
  '{"10":1,"9":2.0,"__proto__":{"a":1},"1.5":3}',
  '{"a":"\\\\","b":1.0}',
  '[[],{},[{}],""]',
] as const;

it.each(AS_WRITTEN)("writes %s as it was written", (text) => {
  expect(writeJson(readJson(text))).toBe(text);
});

it.each(AS_WRITTEN)("sends %s back as it was received in a variant", (value) => {
  const flag = `{"rollout_percentage":25,"variants":[{"key":"a","value":${value},"weight":1}]}`;
  expect(writeJson(receive(flag))).toBe(flag);
  expect(writeJson(receive(`[${flag},${flag}]`))).toBe(`[${flag},${flag}]`);
});

it("keeps the form through copies, drafts and merges", () => {
  const value = receive('{"value":{"a":2.0,"b":[1e3]}}') as { value: object };
  expect(writeJson({ ...value.value })).toBe('{"a":2.0,"b":[1e3]}');
  expect(writeJson(structuredClone(value))).toBe('{"value":{"a":2.0,"b":[1e3]}}');
  expect(writeJson(JSON.parse(JSON.stringify(value)))).toBe('{"value":{"a":2.0,"b":[1e3]}}');
  expect(receive('{"value":2.0}')).not.toEqual(receive('{"value":2}'));
});

it("computes with all other numbers of a response", () => {
  const text = '{"rate":1.0,"value":2.0,"points":[0.50,1e2],"x":[{"value":[1.0]},3.0],"share":4.0,"10":5}';
  const answer = receive(text) as Record<string, unknown>;
  expect(answer).toMatchObject({ rate: 1, points: [0.5, 100], share: 4, "10": 5 });
  expect((answer.x as unknown[])[1]).toBe(3);
  expect(receive('[{"rate":1.0}]')).toEqual([{ rate: 1 }]);
});

it("takes no text for a number and no value for a member", () => {
  const text = '{"name":"\\"value\\": 2.0, {","value":"x, 1.0]","description":"value","rate":1.0,"to":2.0}';
  expect(receive(text)).toEqual(JSON.parse(text));
});

it("shows values in the form in which they were written", () => {
  expect(textOf(receive('{"value":{"a":2.0}}'))).toBe('{"value":{"a":2.0}}');
  expect(textOf("text")).toBe("text");
  expect(writeJson(readJson('{"a":[2.0],"1":{}}'), 2)).toBe('{\n  "a": [\n    2.0\n  ],\n  "1": {}\n}');
  const { attributes } = receive('{"attributes":{"b":1,"10":2.0,"9":"x"}}') as { attributes: object };
  expect(membersOf(attributes).map(([name, value]) => `${name}: ${textOf(value)}`)).toEqual([
    "b: 1",
    "10: 2.0",
    "9: x",
  ]);
});

it("knows numbers, and those that are written as integers", () => {
  const written = (texts: readonly string[]) => texts.map(readJson);
  expect(written(["2", "2.0", "1e3", "12345678901234567890"]).map(isNumber)).toEqual([true, true, true, true]);
  expect(written(["2", "2.0", "1e3", "12345678901234567890"]).map(isInteger)).toEqual([true, false, false, true]);
  expect(written(['"2"', "{}", "[2]", "null", "true"]).some(isNumber)).toBe(false);
});

it.each(["", "{", "01", "2.", "+1", "NaN", "1,2"])("refuses %j as JSON", (text) => {
  expect(() => readJson(text)).toThrow(SyntaxError);
});

it("reads a number of the URL only if its text is written in the same way", () => {
  expect(readSearchValue("42")).toBe(42);
  expect(readSearchValue('"42"')).toBe("42");
  for (const text of ["1e3", "2.0", "12345678901234567890", "007", "-0", " 42"]) {
    expect(() => readSearchValue(text)).toThrow();
  }
});

interface Described {
  readonly type?: string | readonly string[];
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly anyOf?: readonly Described[];
}

/** They hold texts, or fields of resources, in which values of users have one of the names. */
const OTHERS = ["changed_by", "current", "environments", "from", "passkey_options", "present", "public_key"];

it("keeps each member of a response that the API describes as any JSON", () => {
  const { components } = JSON.parse(openapi) as { components: { schemas: Record<string, Described> } };
  const free = new Set<string>();
  const numbers = new Set<string>();
  for (const [schema, { properties = {} }] of Object.entries(components.schemas)) {
    for (const [name, member] of Object.entries(properties)) {
      if (/(Out|Body|Document)$/.test(schema) && isFree(member)) free.add(name);
      if (member.type === "number") numbers.add(name);
    }
  }
  expect([...free].filter((name) => !OF_USERS.has(name)).toSorted()).toEqual([...OTHERS, "restored", "sdk_key", "to"]);
  expect([...OF_USERS].filter((name) => numbers.has(name))).toEqual([]);
});

/** Whether a member can be of any type, or of several, or an object with any members. */
function isFree(member: Described): boolean {
  return [member, ...(member.anyOf ?? [])].some(({ type, additionalProperties: more, ...words }) => {
    if (type === "object") return words.properties === undefined && typeof more !== "object" && more !== false;
    return Array.isArray(type) || (type === undefined && Object.keys(words).every((word) => DESCRIBING.has(word)));
  });
}

const DESCRIBING: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);
