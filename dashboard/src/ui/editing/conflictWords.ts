/** Conflicts in words. */

import type { Condition, Prerequisite } from "../../api/client";
import { changed as texts } from "./changedTexts";
import { rolesTexts } from "../rolesTexts";
import { prerequisiteInWords } from "../conditions/audience";
import { valueInWords } from "../changes/changes";
import { clauseParts, inWords } from "../conditions/conditions";
import type { Fields } from "../../api/equal";
import type { Conflict } from "./merge";
import { writeJson } from "../../api/json";
import { conditionOfPart, nameOfPart, WEIGHTS } from "./mergeParts";

/** What a conflict is about, such as "Variants: blue". */
export function subjectOfConflict({ field, part }: Conflict): string {
  return texts.part(texts.field(field), partInWords(field, part));
}

/** One side's value. */
export function sideInWords({ field, part }: Conflict, value: unknown): string {
  if (value === undefined || value === null) return texts.nothing;
  if (field === "rule_type") return ruleInWords(value as Fields);
  if (part === "") return valueInWords(field, value) ?? texts.nothing;
  switch (field) {
    case "conditions":
      return inWords(clauseParts([{ ...conditionOfPart(part), values: value as string[] } satisfies Condition]));
    case "prerequisites":
      return prerequisiteInWords(value as Prerequisite);
    case "environments":
      return rolesTexts.roles[value as keyof typeof rolesTexts.roles];
    default:
      return part === WEIGHTS ? weightsInWords(value as Record<string, number>) : writeJson(value);
  }
}

function partInWords(field: string, part: string): string {
  if (part === "" || field === "environments") return part;
  if (part === WEIGHTS) return texts.weights;
  return field === "conditions" ? conditionOfPart(part).attribute : nameOfPart(part);
}

function weightsInWords(weights: Readonly<Record<string, number>>): string {
  return Object.entries(weights)
    .map(([key, weight]) => `${key} ${weight}`)
    .join(", ");
}

function ruleInWords({ rule_type: type, rule_value: value }: Fields): string {
  const kind = valueInWords("rule_type", type) ?? "";
  return typeof value === "string" ? texts.ruleMatch(kind, value) : kind;
}
