/**
 * Programs that evaluate a flag, in each language and in each way that exists for it.
 *
 * They are templates in ../snippets, which the tests fill in as well (tests/support/usage.py) and run. In a template,
 * the lines between `{{#string object}}` and `{{/}}` are kept for values of these types, and `{{key}}` is the SDK key.
 * None of the values needs quoting: keys consist of letters, digits, `_`, `-`, `:` and `.`.
 */

import type { Variant } from "../../api/client";
import type { NewSdkKey } from "../credentials/sdkKeysCalls";
import { isInteger, isNumber } from "../../api/json";

export const LANGUAGES = ["curl", "python", "node", "browser", "go", "java", "rust", "ruby", "php", "dotnet"] as const;
export type Language = (typeof LANGUAGES)[number];

export const WAYS = ["http", "openfeature", "unleash"] as const;
export type Way = (typeof WAYS)[number];

const TEMPLATES = import.meta.glob<string>("./snippets/*.snippet", { query: "?raw", import: "default", eager: true });

const BLOCK = /^\{\{#([a-z ]+)\}\}\n([^]*?)^\{\{\/\}\}\n/gm;
const PLACE = /\{\{(\w+)\}\}/g;

export interface UsageValues {
  readonly address: string;
  readonly key: string;
  readonly environment: string;
  readonly flag: string;
}

export interface Usage {
  /** Commands or coordinates that install what the program needs; empty if it needs nothing. */
  readonly install: string;
  readonly code: string;
}

export function waysOf(language: Language): readonly Way[] {
  return WAYS.filter((way) => templateOf(language, way) !== undefined);
}

/** The kind of key that a program needs. Those of pages can be read by anyone. */
export function keyKindOf(language: Language): NewSdkKey["kind"] {
  return language === "browser" ? "browser" : "server";
}

/** Whether the application evaluates flags itself, so that the history has no evaluations of it. */
export function isLocal(language: Language, way: Way): boolean {
  return way === "unleash" && language !== "browser";
}

export function usageOf(language: Language, way: Way, variants: readonly Variant[], values: UsageValues): Usage {
  const names = [typeOf(variants), variants.length > 0 ? "variant" : "plain"];
  const text = (templateOf(language, way) ?? "")
    .replace(BLOCK, (_, wanted: string, lines: string) =>
      wanted.split(" ").some((name) => names.includes(name)) ? lines : "",
    )
    .replace(PLACE, (_, name: keyof UsageValues) => values[name]);
  const [install = "", code = ""] = text.split("---\n", 2);
  return { install: install.trimEnd(), code: code.trimEnd() };
}

function templateOf(language: Language, way: Way): string | undefined {
  return TEMPLATES[`./snippets/${language}.${way}.snippet`];
}

/** The type of a flag's value, as OpenFeature's SDKs have it. */
function typeOf(variants: readonly Variant[]): string {
  const values = variants.map(({ value }) => value);
  if (values.length === 0) return "boolean";
  if (values.every(isNumber)) return values.every(isInteger) ? "integer" : "float";
  const type = typeof values[0];
  return type === "boolean" || type === "string" ? type : "object";
}
