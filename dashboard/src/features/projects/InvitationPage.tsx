/** The page that the link in an invitation opens. Its token was removed from the address bar before anything else ran. */

import { Alert, Button, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { signOutHere, useRegister } from "../identity/accountsCalls";
import { type OpenedInvitation, openedInvitationQuery, useAcceptInvitation } from "./invitationsCalls";
import { lineOf, Problem } from "../../api/problem";
import { AccountPage, EmailField, NewPasswordField } from "../identity/AccountForm";
import { EntryForm } from "../identity/EntryForm";
import { AnchorLink, ButtonLink } from "../../ui/links";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { Refusal } from "../../ui/Refusal";
import { INVITATION_PATH, linkToken } from "../identity/linkToken";
import { currentSession, onSessionChange } from "../../api/session";
import { problemsTexts } from "../../api/problemsTexts";
import { accountsTexts } from "../identity/accountsTexts";
import { invitation } from "./invitationTexts";

export function InvitationPage() {
  const token = linkToken(INVITATION_PATH);
  return token ? <Opened token={token} /> : <Unusable text={invitation.noToken} />;
}

function Unusable({ text }: { text: string }) {
  return (
    <AccountPage heading={invitation.heading}>
      <Text c="dimmed">{text}</Text>
      <ButtonLink to="/" variant="default">
        {problemsTexts.home}
      </ButtonLink>
    </AccountPage>
  );
}

/** The invitation with a link. After it has been accepted, it stays shown until the next page is there. */
function Opened({ token }: { token: string }) {
  const session = useSyncExternalStore(onSessionChange, currentSession);
  const { data: opened, error, refetch } = useQuery(openedInvitationQuery(token));
  if (!opened) {
    if (isOfField(error, "token")) return <Unusable text={invitation.invalid} />;
    return (
      <AccountPage heading={invitation.heading}>
        {error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={3} />}
      </AccountPage>
    );
  }
  return (
    <AccountPage heading={invitation.headingOf(opened.project)}>
      <Text className="break">{invitation.by(opened.inviter, invitation.roles[opened.role] ?? opened.role)}</Text>
      {session ? (
        <Accept key={session.token} token={token} email={session.email} opened={opened} />
      ) : (
        <Join token={token} opened={opened} />
      )}
    </AccountPage>
  );
}

interface Props {
  readonly token: string;
  readonly opened: OpenedInvitation;
}

function Accept({ token, email, opened }: Props & { email: string }) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useAcceptInvitation();
  const isForAnother = email !== "" && email.toLowerCase() !== opened.email.toLowerCase();
  const accept = () =>
    mutate(token, {
      onSuccess: ({ project_id: projectId }) =>
        void navigate({ to: "/projects/$projectId", params: { projectId }, replace: true }),
    });
  return (
    <>
      {isForAnother ? (
        <Alert color="yellow" variant="light" className="break" role="alert">
          {invitation.forAnother(opened.email, email)}
        </Alert>
      ) : (
        <Text c="dimmed" className="break">
          {invitation.signedInAs(email)}
        </Text>
      )}
      <Refusal text={error ? refusalOf(error, email) : null} />
      {!isForAnother && (
        <Button fullWidth loading={isPending} onClick={accept}>
          {invitation.accept}
        </Button>
      )}
      <Button fullWidth variant={isForAnother ? "filled" : "default"} onClick={() => void signOutHere()}>
        {invitation.otherAccount}
      </Button>
      <AnchorLink to="/" size="sm" ta="center">
        {problemsTexts.home}
      </AnchorLink>
    </>
  );
}

/** For people without an account, or who are not signed in. The link admits them also if registration is closed. */
function Join({ token, opened }: Props) {
  const navigate = useNavigate();
  const { mutateAsync: register } = useRegister();
  const [isRefused, setRefused] = useState(false);
  const form = useForm({ initialValues: { email: opened.email, password: "" } });
  const submit = async (values: typeof form.values) => {
    try {
      await register({ ...values, invitation: token });
    } catch (error) {
      if (!isOfField(error, "invitation")) throw error;
      setRefused(true);
      return;
    }
    await navigate({ to: "/projects/$projectId", params: { projectId: opened.project_id }, replace: true });
  };
  return (
    <>
      <Text c="dimmed">{invitation.joinText}</Text>
      <EntryForm form={form} action={invitation.join} returnTo={INVITATION_PATH} onSubmit={submit}>
        <EmailField description={invitation.emailHint} {...form.getInputProps("email")} />
        <NewPasswordField {...form.getInputProps("password")} />
        <Refusal text={isRefused ? invitation.invalidFor(form.values.email) : null} />
      </EntryForm>
      <Text size="sm" ta="center">
        {accountsTexts.haveAccount}{" "}
        <AnchorLink to="/sign-in" search={{ next: INVITATION_PATH }} size="sm" underline="always">
          {accountsTexts.signIn}
        </AnchorLink>
      </Text>
    </>
  );
}

const isOfField = (error: unknown, name: string): boolean =>
  error instanceof Problem && error.fields.some(({ field }) => field === name);

/** The server gives one text for every reason, so that a link tells nothing about who exists. */
function refusalOf(error: Error, email: string): string {
  return isOfField(error, "token") ? invitation.invalidFor(email) : lineOf(error);
}
