/** Variants as they are edited: every value is a text, and the texts of all variants are parsed as one type. */

import type { Variant } from "../../../api/client";
import { type FieldProblem, Problem } from "../../../api/problem";
import { isNumber, readJson, writeJson } from "../../../api/json";
import { variants as variantTexts } from "./variantsTexts";
import { without, withOneMore } from "../../../ui/weights";

export const VALUE_TYPES = ["string", "number", "boolean", "object"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export interface VariantDraft {
  readonly key: string;
  readonly weight: number;
  readonly text: string;
}

export interface VariantsDraft {
  readonly type: ValueType;
  readonly variants: readonly VariantDraft[];
}

const NEW: VariantDraft = { key: "", weight: 0, text: "" };

/** A flag without variants starts with two. */
export function variantsDraftOf(variants: readonly Variant[]): VariantsDraft {
  if (variants.length === 0) return { type: "string", variants: withAdded(withAdded([])) };
  return {
    type: typeOf(variants[0]?.value) as ValueType,
    variants: variants.map(({ key, weight, value }) => ({
      key,
      weight,
      text: typeof value === "string" ? value : writeJson(value, 2),
    })),
  };
}

/** Throws a Problem with the values that are not of the type. */
export function variantsOf({ type, variants }: VariantsDraft): Variant[] {
  const wrong: FieldProblem[] = variants.flatMap(({ text }, place) => {
    const message = faultOf(type, text);
    return message === null ? [] : [{ field: `variants.${place}.value`, message }];
  });
  if (wrong.length > 0) throw new Problem(400, variantTexts.notSaved, wrong);
  return variants.map(({ key, weight, text }) => ({ key, weight, value: valueOf(type, text) as Variant["value"] }));
}

/** The error in the text of a value; null if it is valid. */
export function faultOf(type: ValueType, text: string): string | null {
  try {
    return isOf(type, valueOf(type, text)) ? null : variantTexts.mustBe[type];
  } catch (error) {
    if (type !== "object") return variantTexts.mustBe[type];
    return variantTexts.mustBeJson(error instanceof Error ? error.message : "");
  }
}

export function withAdded(variants: readonly VariantDraft[]): VariantDraft[] {
  return withWeights([...variants, NEW], withOneMore(variants.map((each) => each.weight)));
}

export function withRemoved(variants: readonly VariantDraft[], place: number): VariantDraft[] {
  const weights = variants.map((each) => each.weight);
  return withWeights(variants.toSpliced(place, 1), without(weights, place));
}

export function withWeights(variants: readonly VariantDraft[], weights: readonly number[]): VariantDraft[] {
  return variants.map((each, place) => ({ ...each, weight: weights[place] ?? 0 }));
}

function valueOf(type: ValueType, text: string): unknown {
  return type === "string" ? text : readJson(text);
}

function isOf(type: ValueType, value: unknown): boolean {
  return typeOf(value) === type && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  return isNumber(value) ? "number" : typeof value;
}
