import { Alert, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSignIn } from "../api/accounts";
import { type Challenge, challengeOf } from "../api/secondFactorLogin";
import { AccountPage, EmailField, PasswordField } from "../components/accounts/AccountForm";
import { EntryForm } from "../components/accounts/EntryForm";
import { AnchorLink } from "../components/shared/links";
import { PasskeySignIn } from "../components/accounts/PasskeySignIn";
import { Refusal } from "../components/shared/Refusal";
import { SecondFactorStep } from "../components/accounts/SecondFactorStep";
import { isRegistrationOpen } from "../lib/registration";
import { safeNext } from "../lib/search";
import { t } from "../texts";

const route = getRouteApi("/account/sign-in");

export function SignIn() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const [start, setStart] = useState<Start>({ email: "", refusal: null });
  const finish = () => navigate({ href: safeNext(next), replace: true });
  const goBack = (reason: string | null) => {
    setStart({ email: challenge?.email ?? "", refusal: reason });
    setChallenge(null);
  };
  return challenge ? (
    <SecondFactorStep challenge={challenge} onDone={finish} onBack={goBack} />
  ) : (
    <PasswordStep {...start} onDone={finish} onChallenge={setChallenge} />
  );
}

interface Start {
  readonly email: string;
  /** Why the sign-in must begin again. */
  readonly refusal: string | null;
}

interface Props extends Start {
  readonly onDone: () => Promise<void>;
  readonly onChallenge: (challenge: Challenge) => void;
}

function PasswordStep({ email, refusal, onDone, onChallenge }: Props) {
  const { next, expired, elsewhere } = route.useSearch();
  const form = useForm({ initialValues: { email, password: "" } });
  const { mutateAsync: signIn } = useSignIn();
  const submit = async (values: typeof form.values) => {
    try {
      await signIn(values);
    } catch (error) {
      const challenge = challengeOf(error, values.email);
      if (!challenge) throw error;
      onChallenge(challenge);
      return;
    }
    await onDone();
  };
  return (
    <AccountPage heading={t.accounts.signIn}>
      {(expired ?? elsewhere) && (
        <Alert color="signal" variant="light" py="xs">
          {elsewhere ? t.accounts.endedElsewhere : t.accounts.expired}
        </Alert>
      )}
      <Refusal text={refusal} />
      <EntryForm form={form} action={t.accounts.signIn} returnTo={safeNext(next)} onSubmit={submit}>
        <EmailField {...form.getInputProps("email")} />
        <PasswordField {...form.getInputProps("password")} />
      </EntryForm>
      <PasskeySignIn onDone={onDone} />
      <Stack gap="xs" align="center">
        <AnchorLink to="/forgot-password" size="sm">
          {t.accounts.forgot}
        </AnchorLink>
        {isRegistrationOpen() ? (
          <Text size="sm">
            {t.accounts.noAccount}{" "}
            <AnchorLink to="/register" search={next ? { next } : {}} size="sm" underline="always">
              {t.accounts.register}
            </AnchorLink>
          </Text>
        ) : (
          <Text size="sm" c="dimmed" ta="center">
            {t.accounts.registrationClosed}
          </Text>
        )}
      </Stack>
    </AccountPage>
  );
}
