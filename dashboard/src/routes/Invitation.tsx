/** The page that the link in an invitation opens. Its token was removed from the address bar before anything else ran. */

import { Button, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { signOutHere, useRegister } from "../api/accounts";
import { useAcceptInvitation } from "../api/invitations";
import { lineOf, Problem } from "../api/problem";
import { AccountPage, EmailField, NewPasswordField } from "../components/accounts/AccountForm";
import { EntryForm } from "../components/accounts/EntryForm";
import { AnchorLink, ButtonLink } from "../components/shared/links";
import { Refusal } from "../components/shared/Refusal";
import { INVITATION_PATH, linkToken } from "../lib/linkToken";
import { currentSession, onSessionChange } from "../lib/session";
import { t } from "../texts";
import { invitation } from "../texts/invitation";

export function Invitation() {
  const session = useSyncExternalStore(onSessionChange, currentSession);
  const token = linkToken(INVITATION_PATH);
  if (!token) return <NoToken />;
  return session ? <Accept key={session.token} token={token} email={session.email} /> : <Join token={token} />;
}

function NoToken() {
  return (
    <AccountPage heading={invitation.heading}>
      <Text c="dimmed">{invitation.noToken}</Text>
      <ButtonLink to="/" variant="default">
        {t.problems.home}
      </ButtonLink>
    </AccountPage>
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useAcceptInvitation();
  const accept = () =>
    mutate(token, {
      onSuccess: ({ project_id: projectId }) =>
        void navigate({ to: "/projects/$projectId", params: { projectId }, replace: true }),
    });
  return (
    <AccountPage heading={invitation.heading}>
      <Text c="dimmed" className="break">
        {invitation.signedInAs(email)}
      </Text>
      <Refusal text={error ? refusalOf(error, email) : null} />
      <Button fullWidth loading={isPending} onClick={accept}>
        {invitation.accept}
      </Button>
      <Button fullWidth variant="default" onClick={() => void signOutHere()}>
        {invitation.otherAccount}
      </Button>
      <AnchorLink to="/" size="sm" ta="center">
        {t.problems.home}
      </AnchorLink>
    </AccountPage>
  );
}

/** For people without an account, or who are not signed in. The link admits them also if registration is closed. */
function Join({ token }: { token: string }) {
  const navigate = useNavigate();
  const { mutateAsync: register } = useRegister();
  const [isRefused, setRefused] = useState(false);
  const form = useForm({ initialValues: { email: "", password: "" } });
  const submit = async (values: typeof form.values) => {
    try {
      await register({ ...values, invitation: token });
    } catch (error) {
      const isOfToken = error instanceof Problem && error.fields.some(({ field }) => field === "invitation");
      if (!isOfToken) throw error;
      setRefused(true);
      return;
    }
    await navigate({ to: "/", replace: true });
  };
  return (
    <AccountPage heading={invitation.heading}>
      <Text c="dimmed">{invitation.joinText}</Text>
      <EntryForm form={form} action={invitation.join} returnTo={INVITATION_PATH} onSubmit={submit}>
        <EmailField description={invitation.emailHint} {...form.getInputProps("email")} />
        <NewPasswordField {...form.getInputProps("password")} />
        <Refusal text={isRefused ? invitation.invalidFor(form.values.email) : null} />
      </EntryForm>
      <Text size="sm" ta="center">
        {t.accounts.haveAccount}{" "}
        <AnchorLink to="/sign-in" search={{ next: INVITATION_PATH }} size="sm" underline="always">
          {t.accounts.signIn}
        </AnchorLink>
      </Text>
    </AccountPage>
  );
}

/** The server gives one text for every reason, so that a link tells nothing about who exists. */
function refusalOf(error: Error, email: string): string {
  const isOfToken = error instanceof Problem && error.fields.some(({ field }) => field === "token");
  return isOfToken ? invitation.invalidFor(email) : lineOf(error);
}
