/** Finds the values that were removed from long lists, and those that were added. */

import type { Condition } from "../../api/client";
import { conditionParts, inWords, MOST_VALUES_IN_A_SENTENCE } from "../conditions/conditions";

/** The values that were removed from and added to a condition, which is given as it reads now. */
export interface ValueChange {
  readonly condition: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The removed and added values, if nothing else was changed and they are too many for a sentence. */
export function changedValues(before: readonly Condition[], after: readonly Condition[]): ValueChange[] {
  const isLong = [...before, ...after].some(({ values }) => values.length > MOST_VALUES_IN_A_SENTENCE);
  return isLong ? valueChanges(before, after) : [];
}

/** The removed and added values, if nothing else was changed. */
export function valueChanges(before: readonly Condition[], after: readonly Condition[]): ValueChange[] {
  if (before.length !== after.length) return [];
  const pairs = after.map((now, index) => ({ was: before[index] ?? now, now }));
  if (!pairs.every(({ was, now }) => restOf(was) === restOf(now))) return [];
  return pairs
    .map(({ was, now }) => ({
      condition: inWords(conditionParts(now)),
      removed: without(was.values, now.values),
      added: without(now.values, was.values),
    }))
    .filter(({ removed, added }) => removed.length + added.length > 0);
}

/** A condition without its values. */
function restOf({ attribute, operator, case_insensitive: ignoresCase, negate }: Condition): string {
  return JSON.stringify([attribute, operator, ignoresCase ?? false, negate ?? false]);
}

function without(values: readonly string[], others: readonly string[]): string[] {
  const left = new Set(others);
  return values.filter((value) => !left.has(value));
}
