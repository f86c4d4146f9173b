/** A page before sign-in, with its form. */

import {
  Button,
  PasswordInput,
  type PasswordInputProps,
  Stack,
  TextInput,
  type TextInputProps,
  Title,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { accountsTexts } from "./accountsTexts";
import { common } from "../../ui/commonTexts";
import { Form } from "../../ui/Form";

export function AccountPage({ heading, children }: { heading: string; children: ReactNode }) {
  useDocumentTitle(`${heading} · ${common.product}`);
  return (
    <Stack gap="md">
      <Title order={1} fz="lg">
        {heading}
      </Title>
      {children}
    </Stack>
  );
}

export interface AccountFormProps<Values extends object> {
  readonly form: UseFormReturnType<Values>;
  readonly action: string;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  readonly children?: ReactNode;
}

export function AccountForm<Values extends object>({ action, ...rest }: AccountFormProps<Values>) {
  const button = (busy: boolean) => (
    <Button type="submit" fullWidth loading={busy}>
      {action}
    </Button>
  );
  return <Form buttons={button} {...rest} />;
}

export function EmailField(props: TextInputProps) {
  return <TextInput label={accountsTexts.email} type="email" autoComplete="username" autoFocus {...props} />;
}

export function PasswordField(props: PasswordInputProps) {
  return (
    <PasswordInput
      label={accountsTexts.password}
      autoComplete="current-password"
      aria-invalid={props.error !== undefined}
      {...props}
    />
  );
}

export function NewPasswordField(props: PasswordInputProps) {
  return <PasswordField description={accountsTexts.passwordHint} autoComplete="new-password" {...props} />;
}
