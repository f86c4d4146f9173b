/** Conditions as they are edited: the values are one text, with one value per line if the operator takes several. */

import type { Condition } from "../../api/client";
import { kindOf, takesList } from "./conditions";

export interface ConditionDraft extends Required<Omit<Condition, "values">> {
  readonly text: string;
}

export const NEW_CONDITION: ConditionDraft = {
  attribute: "",
  operator: "in",
  text: "",
  case_insensitive: false,
  negate: false,
};

export function draftOf({ values, ...condition }: Condition): ConditionDraft {
  return { ...NEW_CONDITION, ...condition, text: values.join("\n") };
}

/** Lines without text are left out. What the operator does not support is left out, too. */
export function conditionOf({ text, ...draft }: ConditionDraft): Condition {
  return {
    ...draft,
    case_insensitive: draft.case_insensitive && kindOf(draft.operator) === "text",
    values: takesList(draft.operator) ? linesOf(text) : [text],
  };
}

/** Another operator keeps what it can of the values. */
export function withOperator(draft: ConditionDraft, operator: ConditionDraft["operator"]): ConditionDraft {
  return { ...draft, operator, text: takesList(operator) ? draft.text : (linesOf(draft.text)[0] ?? "") };
}

/**
 * The values of a pasted list whose separators are not lines alone; null if the text has no other separators. They may
 * belong to a value, as in "Lisbon, Portugal", so people look at the values before they are taken. Values of a row of a
 * table are separated by tabs, and quotes around a value are those of a spreadsheet.
 */
export function pastedValues(text: string): string[] | null {
  const separator = [/\t/, /;/, /,/].find((each) => each.test(text));
  if (separator === undefined) return null;
  const values = linesOf(text).flatMap((line) => line.split(separator).map(unquoted).filter(Boolean));
  return values.length === 0 ? null : values;
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  const quoted = /^"(.*)"$/.exec(trimmed) ?? /^'(.*)'$/.exec(trimmed);
  return quoted?.[1]?.trim() ?? trimmed;
}

/** The lines of a text that are not empty, trimmed. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
}
