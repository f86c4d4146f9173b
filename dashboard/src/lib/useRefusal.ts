/** From a refused call to its form: messages at their fields, and what belongs to none above the form. */

import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { type FieldProblem, lineOf, Problem } from "../api/problem";

export function useRefusal<Values extends object>(form: UseFormReturnType<Values>) {
  const [refusal, setRefusal] = useState<string | null>(null);
  const show = (error: unknown): void => {
    const known = fieldsOf(error).filter((each) => each.field in form.getValues());
    if (known.length === 0) {
      setRefusal(lineOf(error));
      return;
    }
    setRefusal(null);
    form.setErrors(Object.fromEntries(known.map((each) => [each.field, capitalised(each.message)])));
    form.getInputNode(known[0]?.field ?? "")?.focus();
  };
  return { refusal, show, clear: () => setRefusal(null) };
}

/** What is taken already is the key or the email: a conflict names no field, since no form has both. */
function fieldsOf(error: unknown): readonly FieldProblem[] {
  if (!(error instanceof Problem)) return [];
  if (error.status !== 409 || error.fields.length > 0) return error.fields;
  return ["key", "email"].map((field) => ({ field, message: error.message }));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
