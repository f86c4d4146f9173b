/** The user in the simulator, as it is edited and as it is sent. */

import { type FieldProblem, Problem } from "../../api/problem";
import { simulatorTexts } from "./simulatorTexts";
import { linesOf } from "../../ui/conditions/conditionDrafts";
import { readJson } from "../../api/json";

export const ATTRIBUTE_TYPES = ["text", "number", "boolean", "list"] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  /** Of a list, one element per line. */
  readonly text: string;
}

export interface SimulatedUser {
  readonly userId: string;
  readonly userEmail: string;
  readonly attributes: readonly Attribute[];
}

export const NOBODY: SimulatedUser = { userId: "", userEmail: "", attributes: [] };

/** The context of an evaluation. Throws a Problem with the attributes that are not of their type. */
export function contextOf({ userId, userEmail, attributes }: SimulatedUser) {
  const wrong: FieldProblem[] = attributes.flatMap(({ name, type, text }, place) =>
    name.trim() && type === "number" && !isNumber(text)
      ? [{ field: `attributes.${place}.text`, message: simulatorTexts.mustBeNumber }]
      : [],
  );
  if (wrong.length > 0) throw new Problem(400, simulatorTexts.notAsked, wrong);
  const custom = attributes.filter(({ name }) => name.trim()).map((each) => [each.name.trim(), valueOf(each)] as const);
  return {
    user_id: userId.trim() || null,
    user_email: userEmail.trim() || null,
    // The schema describes an object with any fields, for which the generated type has no values.
    ...(custom.length > 0 && { custom_attributes: Object.fromEntries(custom) as Record<string, never> }),
  };
}

/** The user in one line. */
export function nameOf({ userId, userEmail, attributes }: SimulatedUser): string {
  const given = attributes
    .filter(({ name }) => name.trim())
    .map(({ name, type, text }) => `${name.trim()}: ${type === "list" ? linesOf(text).join(",") : text}`);
  return [userId, userEmail, ...given].filter(Boolean).join(", ") || simulatorTexts.forNobody;
}

/** Another type starts with a valid value. */
export function withAttributeType(attribute: Attribute, type: AttributeType): Attribute {
  return { ...attribute, type, text: type === "boolean" ? "true" : attribute.text };
}

function valueOf({ type, text }: Attribute): unknown {
  if (type === "number") return numberOf(text);
  if (type === "boolean") return text === "true";
  return type === "list" ? linesOf(text) : text;
}

/** As it was written, unless JSON has no such form, as for +5. */
function numberOf(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return Number(text);
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== "" && Number.isFinite(Number(text));
}
