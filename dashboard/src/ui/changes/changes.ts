/** Describes a change in words and by field. */

import { ruleTexts } from "../conditions/ruleTexts";
import type { Change } from "../../api/changes";
import type { Condition, Prerequisite, Variant } from "../../api/client";
import { common } from "../commonTexts";
import { conditionsTexts } from "../conditions/conditionsTexts";
import { changes as changeTexts } from "./changesTexts";
import { DEFAULT_STICKINESS, prerequisiteInWords } from "../conditions/audience";
import { changedValues, type ValueChange } from "./changedValues";
import { clauseParts, inWords } from "../conditions/conditions";
import { textOf, writeJson } from "../../api/json";
import { inFull, lasting } from "../time";

export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Of conditions with too many values for a sentence: those that were removed and added. */
  readonly values?: readonly ValueChange[];
}

// Fields that change every time, or that only say where the resource belongs.
const UNSPOKEN = new Set([
  "id",
  "created_at",
  "updated_at",
  "project_id",
  "environment_id",
  "flag_id",
  "owner_id",
  "account_id",
  "email",
  "inviter_id",
  "creator_id",
  "creator_email",
  "author_id",
  "release_id",
  "change",
  "replaces_id",
  "compare_environment_id",
  "expires_at",
  "sent_at",
  "last_seen_at",
  "last_used_at",
  // The action says it.
  "is_administrator",
  "deactivated_at",
  "email_verified_at",
  "archived_at",
  "is_default",
  "demands_second_factor_is_default",
]);
// Fields that need not be shown for a creation or a deletion.
const DEFAULTS: Readonly<Record<string, unknown>> = {
  fallthrough: "rollout",
  stickiness: DEFAULT_STICKINESS,
  keep: false,
  is_late: false,
};

// The other fields are on or off.
const YES_OR_NO = new Set(["keep", "critical", "is_late", "compare_before"]);

export function fieldChanges({ before, after }: Pick<Change, "before" | "after">): FieldChange[] {
  const isRule = "rule_type" in (after ?? before ?? {});
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...fields]
    .filter((field) => !UNSPOKEN.has(field))
    .filter((field) => (before !== null && after !== null) || !isDefault(field, (before ?? after)?.[field], isRule))
    .map((field) => ({
      field: isRule && field === "rollout_percentage" ? "share" : field,
      before: field === "priority" ? null : fieldInWords(field, before),
      after: field === "priority" ? movedInWords(before?.[field], after?.[field]) : fieldInWords(field, after),
      ...(field === "conditions" && valuesOf(before?.[field], after?.[field])),
    }))
    .filter((change) => change.before !== change.after || change.values !== undefined);
}

/**
 * Where a rule was moved: its number says nothing without those of the other rules. Null for one that was not moved.
 */
function movedInWords(before: unknown, after: unknown): string | null {
  if (typeof before !== "number" || typeof after !== "number" || before === after) return null;
  return after > before ? changeTexts.moved.up : changeTexts.moved.down;
}

function valuesOf(before: unknown, after: unknown): Pick<FieldChange, "values"> {
  if (!Array.isArray(before) || !Array.isArray(after)) return {};
  const values = changedValues(before as Condition[], after as Condition[]);
  return values.length > 0 ? { values } : {};
}

/** A field of a resource, with what it means if people take it for something else; null if there is none. */
function fieldInWords(field: string, resource: Change["after"]): string | null {
  const isForEveryone = field === "rollout_percentage" && resource?.[field] === 0 && resource.fallthrough !== "off";
  return isForEveryone ? changeTexts.everyone : valueInWords(field, resource?.[field]);
}

/** A field's value; null if there is none. */
export function valueInWords(field: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return wordOf(field, value);
  if (YES_OR_NO.has(field)) return value === true ? changeTexts.kept.yes : changeTexts.kept.no;
  if (typeof value === "boolean") return value ? common.on : common.off;
  if (typeof value === "number") return numberInWords(field, value);
  if (Array.isArray(value)) return value.length > 0 ? listed(field, value) : null;
  return Object.keys(value).length > 0 ? writeJson(value) : null;
}

function numberInWords(field: string, value: number): string {
  if (field === "step") return String(value + 1); // the first one is number 0
  return field === "rollout_percentage" ? `${value}%` : String(value);
}

function wordOf(field: string, value: string): string {
  if (field === "fallthrough") return changeTexts.fallthroughs[value] ?? value;
  if (field === "rule_type") return ruleTexts.types[value as keyof typeof ruleTexts.types];
  return value;
}

function isDefault(field: string, value: unknown, isRule: boolean): boolean {
  if (field === "rollout_percentage") return isRule && value === 100;
  return Object.hasOwn(DEFAULTS, field) && value === DEFAULTS[field];
}

function listed(field: string, values: readonly unknown[]): string {
  switch (field) {
    case "conditions":
      return inWords(clauseParts(values as Condition[]));
    case "variants":
      return (values as Variant[])
        .map(({ key, weight, value }) => `${key} (${weight}): ${writeJson(value)}`)
        .join(", ");
    case "prerequisites":
      return (values as Prerequisite[]).map(prerequisiteInWords).join(conditionsTexts.and);
    case "steps":
      return (values as RecordedStep[]).map(stepInWords).join(", ");
    case "guards":
      return (values as { metric: string; action: string }[])
        .map(({ metric, action }) => changeTexts.releaseGuard(metric, action))
        .join(", ");
    case "thresholds":
      return (values as { request_metric: string; action: string }[])
        .map(({ request_metric: metric, action }) => changeTexts.releaseGuard(metric, action))
        .join(", ");
    default:
      return values.map(textOf).join(", ");
  }
}

/** A step of a release, as the audit trail has it. */
interface RecordedStep {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly at: string | null;
  readonly after_seconds: number | null;
}

function stepInWords({ changes, at, after_seconds: after }: RecordedStep): string {
  const said = Object.entries(changes).map(
    ([field, value]) => `${changeTexts.fields[field] ?? field} ${recordedInWords(field, value)}`,
  );
  const when = at === null ? afterInWords(after ?? 0) : changeTexts.releaseAt(inFull(at));
  return changeTexts.releaseStep(said.join(", "), when);
}

function afterInWords(seconds: number): string {
  return seconds === 0 ? changeTexts.releaseAtOnce : changeTexts.releaseAfter(lasting(seconds * 1000));
}

/** Edits of rules are not described separately. */
function recordedInWords(field: string, value: unknown): string {
  return field === "rules" ? writeJson(value) : (valueInWords(field, value) ?? "");
}
