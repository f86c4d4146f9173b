/** The second step of a sign-in: a code, or a passkey. */

import { Button, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ComponentType, ReactNode } from "react";
import { type Challenge, hasEnded, useCode, usePasskey } from "./secondFactorLoginCalls";
import { hasPasskeys } from "./passkeys";
import { accountsTexts } from "./accountsTexts";
import { secondFactor } from "./secondFactorTexts";
import { AccountForm } from "./AccountForm";
import { Refusal } from "../../ui/Refusal";

interface Props {
  readonly challenge: Challenge;
  readonly onDone: () => Promise<void>;
  /** Goes back to the password, with the reason if the challenge has ended. */
  readonly onBack: (reason: string | null) => void;
  readonly Frame: ComponentType<{ readonly heading: string; readonly children: ReactNode }>;
}

export function SecondFactorStep({ challenge, onDone, onBack, Frame }: Props) {
  const { methods } = challenge;
  const hasCode = methods.includes("totp") || methods.includes("recovery_code");
  const mayUsePasskey = methods.includes("passkey") && hasPasskeys();
  const send = async (proof: () => Promise<void>) => {
    try {
      await proof();
    } catch (error) {
      if (!hasEnded(error)) throw error;
      onBack(error.message);
      return;
    }
    await onDone();
  };
  return (
    <Frame heading={secondFactor.heading}>
      <Text c="dimmed" className="break">
        {challenge.email}
      </Text>
      {mayUsePasskey && <PasskeyButton challenge={challenge} send={send} />}
      {hasCode && <CodeForm challenge={challenge} send={send} />}
      {!hasCode && !mayUsePasskey && <Refusal text={secondFactor.noPasskeys} />}
      <Button variant="subtle" size="sm" onClick={() => onBack(null)}>
        {secondFactor.back}
      </Button>
    </Frame>
  );
}

interface PartProps {
  readonly challenge: Challenge;
  readonly send: (proof: () => Promise<void>) => Promise<void>;
}

function CodeForm({ challenge, send }: PartProps) {
  const form = useForm({ initialValues: { code: "" } });
  const { mutateAsync: sendCode } = useCode(challenge);
  const [label, hint] = fieldTexts(challenge.methods);
  return (
    <AccountForm form={form} action={accountsTexts.signIn} onSubmit={(values) => send(() => sendCode(values))}>
      <TextInput
        label={label}
        description={hint}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        {...form.getInputProps("code")}
      />
    </AccountForm>
  );
}

function fieldTexts(methods: Challenge["methods"]): readonly [string, string] {
  if (!methods.includes("totp")) return [secondFactor.recoveryCode, secondFactor.recoveryHint];
  const hasRecovery = methods.includes("recovery_code");
  return [secondFactor.code, hasRecovery ? secondFactor.codeHint : secondFactor.appOnlyHint];
}

function PasskeyButton({ challenge, send }: PartProps) {
  const form = useForm({ initialValues: {} });
  const { mutateAsync: sendPasskey } = usePasskey(challenge);
  const submit = () => send(() => sendPasskey());
  return <AccountForm form={form} action={secondFactor.usePasskey} onSubmit={submit} />;
}
