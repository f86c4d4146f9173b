import { expect, it } from "vitest";
import type { Condition } from "../../api/client";
import { conditionOf, draftOf, NEW_CONDITION, pastedValues, withOperator } from "./conditionDrafts";
import { conditionParts, inWords, OPERATORS_BY_KIND, ruleParts } from "./conditions";

const condition = (values: Partial<Condition> = {}): Condition => ({
  attribute: "plan",
  operator: "in",
  values: ["pro"],
  ...values,
});
const words = (values: Partial<Condition> = {}) => inWords(conditionParts(condition(values)));
const rule: Parameters<typeof ruleParts>[0] = { rule_type: "attributes", rule_value: null, conditions: [] };

it("describes a condition", () => {
  expect(words()).toBe("plan is pro");
  expect(words({ values: ["pro", "team"], case_insensitive: true })).toBe("plan is one of pro, team (ignoring case)");
  expect(words({ operator: "semver_gte", values: ["2.0.0"], negate: true })).toBe("plan is not at least version 2.0.0");
  expect(words({ attribute: "email_domain", operator: "ends_with", values: [".pt"] })).toBe(
    "the email's domain ends with .pt",
  );
  expect(words({ attribute: "constructor" })).toBe("constructor is pro");
});

it("says what a missing attribute means, which tells not_in from a negated in", () => {
  expect(words({ operator: "not_in" })).toBe("plan is missing or not pro");
  expect(words({ negate: true })).toBe("plan is given and not pro");
  expect(words({ operator: "not_in", negate: true })).toBe("plan is pro");
});

it("folds long lists of values", () => {
  const values = Array.from({ length: 1214 }, (_, number) => `user-${number}`);
  expect(words({ values })).toBe("plan is one of 1,214 values");
  expect(conditionParts(condition({ values })).at(-1)).toEqual({ values, total: 1214 });
});

it("counts the values that are not given", () => {
  const parts = conditionParts({ ...condition({ values: ["a", "b"] }), values_total: 214 });
  expect(parts.at(-1)).toEqual({ values: ["a", "b"], total: 214 });
  expect(inWords(parts)).toBe("plan is one of 214 values");
});

it("has words for every operator", () => {
  for (const operator of OPERATORS_BY_KIND.flatMap((each) => each.operators)) {
    for (const negate of [false, true]) expect(words({ operator, negate })).not.toContain("undefined");
  }
});

it("describes rules of all types", () => {
  expect(inWords(ruleParts(rule))).toBe("For every user");
  expect(inWords(ruleParts({ ...rule, conditions: [condition(), condition({ attribute: "user_id" })] }))).toBe(
    "If plan is pro and the user id is pro",
  );
  expect(inWords(ruleParts({ rule_type: "segment", rule_value: "beta", conditions: [condition()] }))).toBe(
    "If the user is in the segment beta and plan is pro",
  );
});

it("edits values as lines and leaves out empty ones", () => {
  const draft = draftOf(condition({ values: ["a", "b, c"] }));
  expect(draft.text).toBe("a\nb, c");
  expect(conditionOf({ ...draft, text: " a \n\nb, c\n" }).values).toEqual(["a", "b, c"]);
  expect(conditionOf({ ...NEW_CONDITION, operator: "matches", text: " a " }).values).toEqual([" a "]);
  expect(conditionOf({ ...NEW_CONDITION, operator: "gt", case_insensitive: true }).case_insensitive).toBe(false);
  expect(withOperator(draft, "eq").text).toBe("a");
});

it("splits pasted lists at tabs, semicolons or commas, whichever comes first in this order", () => {
  expect(pastedValues("a, b,c,")).toEqual(["a", "b", "c"]);
  expect(pastedValues("a,\r\nb,\r\nc")).toEqual(["a", "b", "c"]);
  expect(pastedValues("Lisbon, Portugal\tPorto")).toEqual(["Lisbon, Portugal", "Porto"]);
  expect(pastedValues("Lisbon, Portugal; Porto")).toEqual(["Lisbon, Portugal", "Porto"]);
  expect(pastedValues('"a",\'b\',""')).toEqual(["a", "b"]);
});

it("leaves what is pasted as it is if it has no separators but lines", () => {
  for (const text of ["a", "a\nb\n", ",", ""]) expect(pastedValues(text)).toBeNull();
});
