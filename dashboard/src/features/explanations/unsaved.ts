/** A flag as it would be after saving, for trying a change before it is made. */

import type { Flag, Rule, RuleFields } from "../../api/client";
import type { FlagDraft } from "./explainCalls";
import { Problem } from "../../api/problem";

/** A rule with an id replaces the saved one; a rule without one is new. */
export function withRule(flag: Flag, rules: readonly Rule[], id: string | null, rule: RuleFields): FlagDraft {
  if (id === null) return { ...flag, rules: [...rules, rule] };
  return { ...flag, rules: rules.map((each) => (each.id === id ? { ...each, ...rule } : each)) };
}

/** Where `withRule` puts the rule. */
export function placeOfRule(rules: readonly Rule[], id: string | null): number {
  return id === null ? rules.length : rules.findIndex((each) => each.id === id);
}

/** The same error with its fields below a path. */
export function problemAt(error: unknown, path: string): unknown {
  if (!(error instanceof Problem)) return error;
  const fields = error.fields.map(({ field, message }) => ({ field: path + field, message }));
  return new Problem(error.status, error.message, fields);
}

/** The errors below a path, as the form for what is at this path knows them; null if there are none. */
export function problemBelow(error: unknown, path: string): Problem | null {
  if (!(error instanceof Problem)) return null;
  const fields = error.fields
    .filter(({ field }) => field.startsWith(path))
    .map(({ field, message }) => ({ field: field.slice(path.length), message }));
  return fields.length > 0 ? new Problem(error.status, error.message, fields) : null;
}
