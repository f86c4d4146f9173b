/** Where the link in the mail leads. Its token was taken out of the address bar before this page was drawn. */

import { Alert, Button, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { useResetPassword } from "../api/accounts";
import { AnchorLink, ButtonLink } from "../components/links";
import { Refusal } from "../components/Refusal";
import { resetToken } from "../lib/resetToken";
import { endSession } from "../lib/session";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";

export function ResetPassword() {
  useDocumentTitle(`${t.accounts.resetHeading} · ${t.product}`);
  const token = resetToken();
  return (
    <Stack gap="md">
      <Title order={1} fz="lg">
        {t.accounts.resetHeading}
      </Title>
      {token ? (
        <NewPassword token={token} />
      ) : (
        <>
          <Text c="dimmed">{t.accounts.noToken}</Text>
          <ButtonLink to="/forgot-password" variant="default">
            {t.accounts.askAgain}
          </ButtonLink>
        </>
      )}
    </Stack>
  );
}

function NewPassword({ token }: { token: string }) {
  const form = useForm({ initialValues: { newPassword: "" } });
  const refusal = useRefusal(form);
  const reset = useResetPassword(token);
  const submit = form.onSubmit((values) =>
    // A reset ends every session of the account; one that is open here may be of that account.
    reset.mutate(values, { onError: refusal.show, onSuccess: () => endSession("signed-out") }),
  );
  if (reset.isSuccess) {
    return (
      <>
        <Alert role="status" color="live" variant="light" py="xs">
          {t.accounts.resetDone}
        </Alert>
        <ButtonLink to="/sign-in" fullWidth>
          {t.accounts.signIn}
        </ButtonLink>
      </>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text c="dimmed">{t.accounts.resetIntro}</Text>
        <PasswordInput
          label={t.accounts.newPassword}
          description={t.accounts.passwordHint}
          autoComplete="new-password"
          autoFocus
          aria-invalid={form.errors.newPassword !== undefined}
          {...form.getInputProps("newPassword")}
        />
        <Refusal text={refusal.refusal} />
        <Button type="submit" fullWidth loading={reset.isPending}>
          {t.accounts.reset}
        </Button>
        <AnchorLink to="/forgot-password" size="sm" ta="center">
          {t.accounts.askAgain}
        </AnchorLink>
      </Stack>
    </form>
  );
}
