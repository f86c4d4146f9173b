/** Describes a change in words and by field. */

import type { Change } from "../api/changes";
import { t } from "../texts";

export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

// Fields that change every time, or that only say where the resource belongs.
const UNSPOKEN = new Set(["id", "created_at", "updated_at", "project_id", "environment_id", "flag_id", "owner_id"]);

export function fieldChanges({ before, after }: Pick<Change, "before" | "after">): FieldChange[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...fields]
    .filter((field) => !UNSPOKEN.has(field))
    .map((field) => ({ field, before: shown(field, before?.[field]), after: shown(field, after?.[field]) }))
    .filter((change) => change.before !== change.after);
}

/** The action, as in "ada@acme.com turned on New checkout". */
export function verbOf(change: Change): string {
  const [only, ...others] = fieldChanges(change);
  const isSwitch = only?.field === "enabled" && others.length === 0 && change.before !== null && change.after !== null;
  if (isSwitch && change.action.startsWith("flag."))
    return only.after === t.on ? t.changes.turnedOn : t.changes.turnedOff;
  return t.changes.verbs[change.action] ?? change.action;
}

/** The name of the changed resource; for a rule, the name of its flag if it is known. */
export function subjectOf(change: Change, flagNames: ReadonlyMap<string, string>): string {
  const resource = change.after ?? change.before ?? {};
  if (typeof resource.name === "string" && !change.action.startsWith("rule.")) return resource.name;
  return change.flag_id === null ? "" : (flagNames.get(change.flag_id) ?? t.changes.goneFlag);
}

function shown(field: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? t.on : t.off;
  if (typeof value === "number") return field === "rollout_percentage" ? `${value}%` : String(value);
  if (field === "rule_type") return t.rules.types[value as keyof typeof t.rules.types];
  return typeof value === "string" ? value : JSON.stringify(value);
}
