/** What a change did, in words and field by field. */

import type { Change } from "../api/changes";
import { t } from "../texts";

export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

// What every change moves, or what says only where the resource stands.
const UNSPOKEN = new Set(["id", "created_at", "updated_at", "project_id", "environment_id", "flag_id", "owner_id"]);

export function fieldChanges({ before, after }: Pick<Change, "before" | "after">): FieldChange[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...fields]
    .filter((field) => !UNSPOKEN.has(field) && shown(before?.[field]) !== shown(after?.[field]))
    .map((field) => ({ field, before: shown(before?.[field]), after: shown(after?.[field]) }));
}

/** What was done, as in "ada@acme.com turned on New checkout". */
export function verbOf(change: Change): string {
  const fields = fieldChanges(change);
  const [only] = fields;
  if (
    change.before &&
    change.after &&
    change.action.startsWith("flag.") &&
    fields.length === 1 &&
    only?.field === "enabled"
  ) {
    return only.after === "true" ? t.changes.turnedOn : t.changes.turnedOff;
  }
  return t.changes.verbs[change.action] ?? change.action;
}

/** The name of what was changed, as far as the change holds one. */
export function subjectOf(change: Change): string {
  const resource = change.after ?? change.before ?? {};
  return shown(resource.name) ?? shown(resource.rule_value) ?? "";
}

function shown(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
