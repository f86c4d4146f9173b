/** Asks for the current password before a change to second factors, in a dialog. */

import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { accountsTexts } from "./accountsTexts";
import { PasswordField } from "./AccountForm";
import { DialogForm } from "../../ui/DialogForm";

interface Props {
  readonly text?: string;
  readonly action: string;
  readonly onSubmit: (confirmed: { current_password: string }) => Promise<unknown>;
  readonly onClose: () => void;
}

export function CurrentPasswordForm({ text, ...rest }: Props) {
  const form = useForm({ initialValues: { current_password: "" } });
  return (
    <DialogForm form={form} {...rest}>
      {text && <Text className="break">{text}</Text>}
      <PasswordField label={accountsTexts.currentPassword} data-autofocus {...form.getInputProps("current_password")} />
    </DialogForm>
  );
}
