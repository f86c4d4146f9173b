/** Describes conditions in words, and converts them for the form in which they are edited. */

import { ruleTexts } from "./ruleTexts";
import type { Condition, Operator, Rule } from "../../api/client";
import { conditionsTexts } from "./conditionsTexts";

/** A piece of a sentence: words, one value, or more values than a sentence can hold, of which maybe only some are known. */
export type Part =
  | { readonly words: string }
  | { readonly value: string }
  | { readonly values: readonly string[]; readonly total: number };

export const BUILT_IN = ["user_id", "user_email", "email_domain", "environment", "current_time"] as const;

function isBuiltIn(attribute: string): attribute is (typeof BUILT_IN)[number] {
  return (BUILT_IN as readonly string[]).includes(attribute);
}

type Kind = keyof typeof conditionsTexts.kinds;

/** What each operator compares, and whether with a list of values. */
const OPERATORS: Readonly<Record<Operator, { readonly kind: Kind; readonly takesList: boolean }>> = {
  in: { kind: "text", takesList: true },
  not_in: { kind: "text", takesList: true },
  starts_with: { kind: "text", takesList: true },
  ends_with: { kind: "text", takesList: true },
  contains: { kind: "text", takesList: true },
  matches: { kind: "text", takesList: false },
  eq: { kind: "number", takesList: false },
  gt: { kind: "number", takesList: false },
  gte: { kind: "number", takesList: false },
  lt: { kind: "number", takesList: false },
  lte: { kind: "number", takesList: false },
  before: { kind: "moment", takesList: false },
  after: { kind: "moment", takesList: false },
  semver_eq: { kind: "version", takesList: false },
  semver_gt: { kind: "version", takesList: false },
  semver_gte: { kind: "version", takesList: false },
  semver_lt: { kind: "version", takesList: false },
  semver_lte: { kind: "version", takesList: false },
  in_network: { kind: "network", takesList: true },
};

/** The operators by what they compare, in the order in which they are offered. */
export const OPERATORS_BY_KIND = (Object.keys(conditionsTexts.kinds) as Kind[]).map((kind) => ({
  kind,
  operators: (Object.keys(OPERATORS) as Operator[]).filter((operator) => kindOf(operator) === kind),
}));

export const MOST_VALUES_IN_A_SENTENCE = 3;

export function kindOf(operator: Operator): Kind {
  return OPERATORS[operator].kind;
}

export function takesList(operator: Operator): boolean {
  return OPERATORS[operator].takesList;
}

/** `values_total` is how many values there are, if only some are given. */
export function conditionParts(condition: Condition & { readonly values_total?: number }): Part[] {
  const {
    attribute,
    operator,
    values,
    values_total: total = condition.values.length,
    case_insensitive: ignoresCase,
    negate = false,
  } = condition;
  const words = conditionsTexts.comparison[operator][negate ? "not" : "is"];
  const comparison = values.length === 1 ? words.one : words.many;
  return [
    ...attributeParts(attribute),
    { words: ` ${comparison} ` },
    ...valueParts(values, total),
    ...(ignoresCase ? [{ words: conditionsTexts.ignoringCase }] : []),
  ];
}

/** Conditions as one clause: "plan is pro and country is one of PT, ES". */
export function clauseParts(conditions: readonly Condition[]): Part[] {
  return conditions.flatMap((each, index) => [
    ...(index > 0 ? [{ words: conditionsTexts.and }] : []),
    ...conditionParts(each),
  ]);
}

type Targeting = Pick<Rule, "rule_type" | "rule_value" | "conditions">;

/** Whom a rule matches: "If the email is ada@acme.com and plan is pro". */
export function ruleParts({ rule_type: type, rule_value: value, conditions }: Targeting): Part[] {
  if (type !== "attributes") {
    const more = conditions.length > 0 ? [{ words: conditionsTexts.and }, ...clauseParts(conditions)] : [];
    return [{ words: `${ruleTexts.sentence[type]} ` }, { value: value ?? "" }, ...more];
  }
  if (conditions.length === 0) return [{ words: ruleTexts.forEveryone }];
  return [{ words: ruleTexts.sentence.attributes }, ...clauseParts(conditions)];
}

export function inWords(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if ("words" in part) return part.words;
      return "value" in part ? part.value : conditionsTexts.values(part.total);
    })
    .join("");
}

function attributeParts(attribute: string): Part[] {
  if (!isBuiltIn(attribute)) return [{ value: attribute }];
  return [{ words: conditionsTexts.attributes[attribute] }];
}

function valueParts(values: readonly string[], total: number): Part[] {
  if (total > MOST_VALUES_IN_A_SENTENCE) return [{ values, total }];
  return values.flatMap((value, index) => [...(index > 0 ? [{ words: ", " }] : []), { value }]);
}
