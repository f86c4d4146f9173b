/** A form: its fields, errors that belong to no field, and its buttons. */

import { Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { type ReactNode, useId } from "react";
import { useSubmission } from "./useSubmission";
import { Refusal } from "./Refusal";

interface Props<Values extends object> {
  readonly form: UseFormReturnType<Values>;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  /** With the id of the form, for buttons that are outside of it. */
  readonly buttons: (busy: boolean, formId: string) => ReactNode;
  readonly children?: ReactNode;
  /** Shown before the buttons, outside of the form, because it contains another form. */
  readonly aside?: ReactNode;
}

export function Form<Values extends object>({ form, onSubmit, buttons, children, aside }: Props<Values>) {
  const id = useId();
  const submission = useSubmission(form, onSubmit);
  const end = (
    <>
      <Refusal text={submission.refusal} />
      {buttons(submission.busy, id)}
    </>
  );
  return (
    <Stack gap="md">
      <form id={id} onSubmit={submission.onSubmit} noValidate>
        <Stack gap="md">
          {children}
          {aside === undefined && end}
        </Stack>
      </form>
      {aside}
      {aside !== undefined && end}
    </Stack>
  );
}
