/** Disables the authenticator app, which takes the password and a code. */

import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisableApp } from "./twoFactorCalls";
import { notifyDone } from "../../api/notify";
import { atCodeField, proofOf } from "./proofs";
import { accountsTexts } from "./accountsTexts";
import { twoFactor as texts } from "./twoFactorTexts";
import { PasswordField } from "./AccountForm";
import { DialogForm } from "../../ui/DialogForm";

interface Props {
  readonly isLast: boolean;
  readonly onClose: () => void;
}

export default function DisableApp({ isLast, onClose }: Props) {
  const form = useForm({ initialValues: { current_password: "", code: "" } });
  const { mutateAsync: disable } = useDisableApp();
  const submit = async ({ code, ...confirmed }: typeof form.values) => {
    try {
      await disable({ ...confirmed, ...proofOf(code, ["totp", "recovery_code"]) });
    } catch (error) {
      throw atCodeField(error);
    }
    onClose();
    notifyDone(texts.disabled);
  };
  return (
    <DialogForm form={form} action={texts.disableDo} onSubmit={submit} onClose={onClose}>
      <Text>
        {texts.disableText} {isLast && texts.lastFactor}
      </Text>
      <PasswordField label={accountsTexts.currentPassword} data-autofocus {...form.getInputProps("current_password")} />
      <TextInput
        label={texts.proof}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps("code")}
      />
    </DialogForm>
  );
}
