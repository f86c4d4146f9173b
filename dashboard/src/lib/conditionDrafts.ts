/** Conditions as they are edited: the values are one text, with one value per line if the operator takes several. */

import type { Condition } from "../api/client";
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

/** A pasted list with one value per line; null if the text is not a list. A comma within a line may belong to a value. */
export function pastedLines(text: string): string | null {
  const lines = linesOf(text);
  if (lines.length === 1) return text.includes(",") ? linesOf(text.replaceAll(",", "\n")).join("\n") : null;
  const hasCommas = lines.slice(0, -1).every((line) => line.endsWith(","));
  return hasCommas && lines.length > 1 ? lines.map((line) => line.replace(/,$/, "").trimEnd()).join("\n") : null;
}

/** The lines of a text that are not empty, trimmed. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
}
