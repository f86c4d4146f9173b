/** A form: its fields, errors that belong to no field, and its buttons. */

import { Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { useSubmission } from "../lib/useSubmission";
import { Refusal } from "./Refusal";

interface Props<Values extends object> {
  readonly form: UseFormReturnType<Values>;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  readonly buttons: (busy: boolean) => ReactNode;
  readonly children?: ReactNode;
}

export function Form<Values extends object>({ form, onSubmit, buttons, children }: Props<Values>) {
  const submission = useSubmission(form, onSubmit);
  return (
    <form onSubmit={submission.onSubmit} noValidate>
      <Stack gap="md">
        {children}
        <Refusal text={submission.refusal} />
        {buttons(submission.busy)}
      </Stack>
    </form>
  );
}
