/** Adds a passkey: the password and a name, and then the browser asks. */

import { useForm } from "@mantine/form";
import { useAddPasskey } from "./twoFactorCalls";
import { deviceName } from "./deviceName";
import { notifyDone } from "../../api/notify";
import { accountsTexts } from "./accountsTexts";
import { twoFactor as texts } from "./twoFactorTexts";
import { PasswordField } from "./AccountForm";
import { DialogForm } from "../../ui/DialogForm";
import type { OnChanged } from "./FactorDialog";
import { NameField } from "../../ui/fields";

interface Props {
  readonly onChanged: OnChanged;
  readonly onClose: () => void;
}

export default function AddPasskey({ onChanged, onClose }: Props) {
  const form = useForm({ initialValues: { name: deviceName(navigator.userAgent), current_password: "" } });
  const { mutateAsync: add } = useAddPasskey();
  const submit = async (values: typeof form.values) => {
    onChanged(await add(values));
    notifyDone(texts.added);
  };
  return (
    <DialogForm form={form} action={texts.addPasskey} onSubmit={submit} onClose={onClose}>
      <NameField description={texts.addPasskeyHint} {...form.getInputProps("name")} />
      <PasswordField label={accountsTexts.currentPassword} {...form.getInputProps("current_password")} />
    </DialogForm>
  );
}
