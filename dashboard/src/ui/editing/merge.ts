/**
 * Merges what two people have changed in one resource, starting from the state that both began with. What only one of
 * them has changed is taken; what both have changed to different values is a conflict, for which someone must choose.
 */

import { equal, type Fields } from "../../api/equal";
import { join, type Parts, reconcile, split } from "./mergeParts";

export type Side = "mine" | "theirs";

export interface Conflict {
  /** Identifies this conflict and the other person's value, because a choice does not apply to another value. */
  readonly id: string;
  readonly field: string;
  /** The part of the field, such as a variant; empty for the field as a whole. */
  readonly part: string;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Null until someone has chosen. */
  readonly choice: Side | null;
}

export type Choices = Readonly<Record<string, Side>>;

export interface Merge {
  readonly merged: Fields;
  readonly conflicts: readonly Conflict[];
}

// Fields that belong together: a type of rule is useless with the value of another type.
const TOGETHER: readonly (readonly string[])[] = [["rule_type", "rule_value"]];

/** The fields of `mine` merged. Where nobody has chosen yet, `merged` has the other's value. */
export function merge(base: Fields, mine: Fields, theirs: Fields, choices: Choices = {}): Merge {
  const merged: Record<string, unknown> = {};
  const conflicts: Conflict[] = [];
  for (const fields of grouped(Object.keys(mine))) {
    const [field = ""] = fields;
    const isOne = fields.length === 1;
    const valueOf = (all: Fields) => (isOne ? all[field] : pick(all, fields));
    const found = mergeField(field, isOne, [valueOf(base), valueOf(mine), valueOf(theirs)], choices);
    conflicts.push(...found.conflicts);
    Object.assign(merged, isOne ? { [field]: found.value } : found.value);
  }
  return { merged, conflicts };
}

/** Whether someone has chosen everywhere. */
export function isSettled(conflicts: readonly Conflict[]): boolean {
  return conflicts.every(({ choice }) => choice !== null);
}

type Versions = readonly [base: unknown, mine: unknown, theirs: unknown];

function mergeField(field: string, isDivisible: boolean, values: Versions, choices: Choices) {
  // One side's value, in its order, if the other side has not changed it.
  if (equal(values[0], values[2])) return { conflicts: [], value: values[1] };
  if (equal(values[0], values[1])) return { conflicts: [], value: values[2] };
  const [base, mine, theirs] = partsOf(field, isDivisible, values);
  const conflicts: Conflict[] = [];
  const parts: Record<string, unknown> = {};
  for (const part of new Set([theirs, mine, base].flatMap((each) => Object.keys(each)))) {
    const [before, own, other] = [base[part], mine[part], theirs[part]];
    const isOverlap = !equal(before, own) && !equal(before, other) && !equal(own, other);
    if (!isOverlap) {
      parts[part] = equal(before, own) ? other : own;
      continue;
    }
    const id = `${field}\n${part}\n${JSON.stringify(other)}`;
    const both = reconcile(field, part, before, own, other);
    const choice = choices[id] ?? null;
    if (both === null) conflicts.push({ id, field, part, mine: own, theirs: other, choice });
    parts[part] = both ?? (choice === "mine" ? own : other);
  }
  return { conflicts, value: join(field, parts, mine, theirs) };
}

/** A list whose items cannot be told apart in one of the versions is one part. */
function partsOf(field: string, isDivisible: boolean, values: Versions): readonly [Parts, Parts, Parts] {
  const whole = values.map((value) => ({ "": value })) as unknown as [Parts, Parts, Parts];
  if (!isDivisible) return whole;
  const [base, mine, theirs] = values.map((value) => split(field, value));
  return base && mine && theirs ? [base, mine, theirs] : whole;
}

function grouped(fields: readonly string[]): readonly (readonly string[])[] {
  const groups = TOGETHER.filter((group) => group.every((each) => fields.includes(each)));
  const rest = fields.filter((field) => !groups.some((group) => group.includes(field)));
  return [...groups, ...rest.map((field) => [field])];
}

function pick(all: Fields, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, all[field]]));
}
