/** The page that the link in the mail opens. Its token was removed from the address bar before the page was rendered. */

import { Alert, Checkbox, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useResetPassword } from "./accountsCalls";
import { AccountForm, AccountPage, NewPasswordField } from "./AccountForm";
import { AnchorLink, ButtonLink } from "../../ui/links";
import { linkToken, RESET_PATH } from "./linkToken";
import { endSession } from "../../api/session";
import { t } from "../../texts";

export function ResetPasswordPage() {
  const token = linkToken(RESET_PATH);
  return (
    <AccountPage heading={t.accounts.resetHeading}>
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
    </AccountPage>
  );
}

function NewPassword({ token }: { token: string }) {
  const form = useForm({ initialValues: { newPassword: "", keep_access_tokens: false } });
  const { mutateAsync: reset, isSuccess } = useResetPassword(token);
  const submit = async (values: typeof form.values) => {
    await reset(values);
    endSession("signed-out"); // a reset ends all sessions of the account, and the session in this tab may be one of them
  };
  if (isSuccess) {
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
    <>
      <Text c="dimmed">{t.accounts.resetIntro}</Text>
      <AccountForm form={form} action={t.accounts.reset} onSubmit={submit}>
        <NewPasswordField label={t.accounts.newPassword} autoFocus {...form.getInputProps("newPassword")} />
        <Checkbox
          label={t.accounts.keepTokens}
          description={t.accounts.keepTokensHint}
          {...form.getInputProps("keep_access_tokens", { type: "checkbox" })}
        />
      </AccountForm>
      <AnchorLink to="/forgot-password" size="sm" ta="center">
        {t.accounts.askAgain}
      </AnchorLink>
    </>
  );
}
