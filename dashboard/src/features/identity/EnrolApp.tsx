/** Enrols an authenticator app: the password, the QR code with the secret, and a code that the app shows. */

import { Anchor, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { type Enrolment, useBeginApp, useConfirmApp } from "./twoFactorCalls";
import { notifyDone } from "../../api/notify";
import { inGroups } from "./recoveryCodes";
import { twoFactor as texts } from "./twoFactorTexts";
import { CopyIcon } from "../../ui/CopyButton";
import { CurrentPasswordForm } from "./CurrentPasswordForm";
import { FirstFocused } from "../../ui/DialogFrame";
import { DialogForm } from "../../ui/DialogForm";
import type { OnChanged } from "./FactorDialog";
import { QrCode } from "./QrCode";

interface Props {
  readonly onChanged: OnChanged;
  readonly onClose: () => void;
}

export default function EnrolApp(props: Props) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const { mutateAsync: begin } = useBeginApp();
  if (enrolment) {
    return (
      <FirstFocused key="scan">
        <Scan enrolment={enrolment} {...props} />
      </FirstFocused>
    );
  }
  return (
    <CurrentPasswordForm
      action={texts.next}
      onSubmit={async (confirmed) => setEnrolment(await begin(confirmed))}
      onClose={props.onClose}
    />
  );
}

function Scan({ enrolment: { secret, uri }, onChanged, onClose }: Props & { enrolment: Enrolment }) {
  const form = useForm({ initialValues: { code: "" } });
  const { mutateAsync: confirm } = useConfirmApp();
  const submit = async ({ code }: typeof form.values) => {
    onChanged(await confirm({ code: code.replaceAll(/\s/g, "") }));
    notifyDone(texts.enrolled);
  };
  return (
    <DialogForm form={form} action={texts.confirm} onSubmit={submit} onClose={onClose}>
      <Text>{texts.scan}</Text>
      <QrCode text={uri} label={texts.qrCode} />
      <Stack gap={2}>
        <Text>{texts.byHand}</Text>
        <Group gap={4} wrap="nowrap" justify="space-between">
          <code className="mono break" data-testid="totp-secret">
            {inGroups(secret)}
          </code>
          <CopyIcon text={secret} label={texts.copyKey} />
        </Group>
        <Anchor href={uri} size="sm">
          {texts.openApp}
        </Anchor>
      </Stack>
      <TextInput
        label={texts.code}
        description={texts.codeHint}
        autoComplete="one-time-code"
        inputMode="numeric"
        data-autofocus
        {...form.getInputProps("code")}
      />
    </DialogForm>
  );
}
