/**
 * Fields that are merged in parts: tags, the variants of a flag, its prerequisites, conditions, and roles by
 * environment.
 */

import type { Condition, Prerequisite, Variant } from "../../api/client";
import { takesList } from "../conditions/conditions";

/** By the name of a part. What is absent is undefined. */
export type Parts = Readonly<Record<string, unknown>>;

/** The weights of all variants are one part, because nobody wants a mixture of both sides' weights. */
export const WEIGHTS = "weights";
const NAMED = "#"; // before each name, because an object would put names that are numbers first

/** Null if the parts have no names that tell them apart. */
export function split(field: string, value: unknown): Parts | null {
  switch (field) {
    case "tags":
      return named(
        value as string[],
        (tag) => tag,
        () => true,
      );
    case "environments":
      return value as Parts;
    case "prerequisites":
      return named(
        value as Prerequisite[],
        (each) => each.flag_key,
        (each) => each,
      );
    case "variants":
      return splitVariants(value as Variant[]);
    case "conditions":
      return named(value as Condition[], headOf, ({ values }) => values);
    default:
      return null;
  }
}

/** The value that has these parts. A variant without a weight gets it from one of the two versions. */
export function join(field: string, parts: Parts, mine: Parts, theirs: Parts): unknown {
  if ("" in parts) return parts[""];
  const present = Object.entries(parts).filter(([, part]) => part !== undefined);
  switch (field) {
    case "tags":
      return present.map(([part]) => nameOfPart(part));
    case "environments":
      return Object.fromEntries(present);
    case "variants":
      return joinVariants(present, Object.assign({}, mine[WEIGHTS], theirs[WEIGHTS], parts[WEIGHTS]));
    case "conditions":
      return present.map(([part, values]) => ({ ...conditionOfPart(part), values: values as string[] }));
    default:
      return present.map(([, part]) => part);
  }
}

/** A condition's list with the changes of both sides; null if they cannot be merged, or if the list would be empty. */
export function reconcile(field: string, part: string, base: unknown, mine: unknown, theirs: unknown): unknown {
  if (field !== "conditions" || part === "" || !takesList(conditionOfPart(part).operator)) return null;
  if (base === undefined || mine === undefined || theirs === undefined) return null;
  const [before, own, other] = [new Set(base as string[]), new Set(mine as string[]), new Set(theirs as string[])];
  const kept = [...other].filter((value) => own.has(value) || !before.has(value));
  const added = [...own].filter((value) => !before.has(value) && !other.has(value));
  return kept.length + added.length > 0 ? [...kept, ...added] : null;
}

/** The condition of a part, without its values. */
export function conditionOfPart(part: string): Condition {
  return { ...(JSON.parse(nameOfPart(part)) as Condition), values: [] };
}

export function nameOfPart(part: string): string {
  return part.slice(NAMED.length);
}

function named<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  valueOf: (item: Item) => unknown,
): Parts | null {
  const parts = Object.fromEntries(items.map((item) => [NAMED + nameOf(item), valueOf(item)]));
  return Object.keys(parts).length === items.length ? parts : null;
}

/** The identity of a condition: everything but its values. */
function headOf({ attribute, operator, case_insensitive = false, negate = false }: Condition): string {
  return JSON.stringify({ attribute, operator, case_insensitive, negate });
}

function splitVariants(variants: readonly Variant[]): Parts | null {
  const values = named(
    variants,
    ({ key }) => key,
    ({ value }) => value,
  );
  return values && { [WEIGHTS]: Object.fromEntries(variants.map(({ key, weight }) => [key, weight])), ...values };
}

function joinVariants(
  present: readonly (readonly [string, unknown])[],
  weights: Readonly<Record<string, number>>,
): Variant[] {
  return present
    .filter(([part]) => part !== WEIGHTS)
    .map(([part, value]) => {
      const key = nameOfPart(part);
      return { key, weight: weights[key] ?? 0, value: value as Variant["value"] };
    });
}
