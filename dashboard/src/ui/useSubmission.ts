/** Submits a form. Errors are shown at their fields, and errors that belong to no field above the button. */

import type { FormErrors, UseFormReturnType } from "@mantine/form";
import { useEffect, useState } from "react";
import { type FieldProblem, lineOf, Problem } from "../api/problem";
import { conditionsTexts } from "./conditions/conditionsTexts";
import { capitalised } from "./capitalised";

export function useSubmission<Values extends object>(
  form: UseFormReturnType<Values>,
  send: (values: Values) => Promise<unknown>,
) {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Element | null>(null);
  useEffect(() => {
    // A button that waits is disabled, and so loses the focus.
    if (busy || document.activeElement !== document.body) return;
    if (refused instanceof HTMLElement) refused.focus();
  }, [busy, refused]);
  const focusFirst = (errors: FormErrors) => form.getInputNode(Object.keys(errors)[0] ?? "")?.focus();
  const onSubmit = form.onSubmit(async (values) => {
    const pressed = document.activeElement;
    setRefused(null);
    setBusy(true);
    setRefusal(null);
    try {
      await send(values);
    } catch (error) {
      if (!showAtFields(form, error)) setRefusal(lineOf(error));
      setRefused(pressed);
    } finally {
      setBusy(false);
    }
  }, focusFirst);
  return { onSubmit, refusal, busy };
}

/** Shows an error at the fields that it names, of which the first gets the focus. Returns whether the form has any. */
export function showAtFields<Values extends object>(form: UseFormReturnType<Values>, error: unknown): boolean {
  const known = fieldsOf(error)
    .map(placed)
    .filter(({ field }) => field.replace(/\..*/, "") in form.getValues());
  if (known.length === 0) return false;
  // Of several problems of one list, the first is shown: people mend a list from its beginning.
  form.setErrors(Object.fromEntries(known.toReversed().map((each) => [each.field, capitalised(each.message)])));
  form.getInputNode(known[0]?.field ?? "")?.focus();
  return true;
}

/** The field in which an item of a list is edited: "conditions.1.values.3" is the fourth in "conditions.1.values". */
function placed({ field, message }: FieldProblem): FieldProblem {
  const [, list, index] = /^(.+)\.(\d+)$/.exec(field) ?? [];
  return list ? { field: list, message: conditionsTexts.nth(Number(index) + 1, message) } : { field, message };
}

/** A conflict names no field. It means that the key or the email is already used; no form has both. */
function fieldsOf(error: unknown): readonly FieldProblem[] {
  if (!(error instanceof Problem)) return [];
  if (error.status !== 409 || error.fields.length > 0) return error.fields;
  return ["key", "email"].map((field) => ({ field, message: error.message }));
}
