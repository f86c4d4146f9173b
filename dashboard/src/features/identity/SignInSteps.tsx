/** The steps of a sign-in: a password, a provider or a passkey, and then a second factor if the account has one. */

import { useForm } from "@mantine/form";
import { type ComponentType, type ReactNode, useState } from "react";
import { useSignIn } from "./accountsCalls";
import { type Challenge, challengeOf } from "./secondFactorLoginCalls";
import { accountsTexts } from "./accountsTexts";
import { Refusal } from "../../ui/Refusal";
import { AccountPage, EmailField, PasswordField } from "./AccountForm";
import { EntryForm } from "./EntryForm";
import { PasskeySignIn } from "./PasskeySignIn";
import { SecondFactorStep } from "./SecondFactorStep";

interface Props {
  /** The address that is filled in. */
  readonly email?: string;
  /** The name of the provider that the account has signed in at. */
  readonly provider?: string | undefined;
  /** The path of the page to open afterwards. */
  readonly returnTo: string;
  readonly onDone: () => Promise<void>;
  /** Shown above and below the password. */
  readonly before?: ReactNode;
  readonly after?: ReactNode;
  readonly Frame?: ComponentType<{ readonly heading: string; readonly children: ReactNode }>;
}

export function SignInSteps({ email = "", Frame = AccountPage, ...props }: Props) {
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const [start, setStart] = useState<Start>({ email, refusal: null });
  const goBack = (reason: string | null) => {
    setStart({ email: challenge?.email ?? "", refusal: reason });
    setChallenge(null);
  };
  if (challenge) return <SecondFactorStep challenge={challenge} onDone={props.onDone} onBack={goBack} Frame={Frame} />;
  return <PasswordStep {...start} {...props} Frame={Frame} onChallenge={setChallenge} />;
}

interface Start {
  readonly email: string;
  /** Why the sign-in must begin again. */
  readonly refusal: string | null;
}

type StepProps = Start &
  Omit<Props, "email"> &
  Required<Pick<Props, "Frame">> & { readonly onChallenge: (challenge: Challenge) => void };

function PasswordStep({ email, refusal, provider, returnTo, onDone, onChallenge, before, after, Frame }: StepProps) {
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
    <Frame heading={accountsTexts.signIn}>
      {before}
      <Refusal text={refusal} />
      <EntryForm form={form} action={accountsTexts.signIn} returnTo={returnTo} provider={provider} onSubmit={submit}>
        <EmailField {...form.getInputProps("email")} autoFocus={email === ""} />
        <PasswordField {...form.getInputProps("password")} {...(email !== "" && { "data-autofocus": true })} />
      </EntryForm>
      <PasskeySignIn onDone={onDone} />
      {after}
    </Frame>
  );
}
