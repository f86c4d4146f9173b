/** The page that the link in the mail opens. Its token was removed from the address bar before the page was rendered. */

import { Alert, Checkbox, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useResetPassword } from "./accountsCalls";
import { AccountForm, AccountPage, NewPasswordField } from "./AccountForm";
import { AnchorLink, ButtonLink } from "../../ui/links";
import { linkToken, RESET_PATH } from "./linkToken";
import { endSession } from "../../api/session";
import { accountsTexts } from "./accountsTexts";

export function ResetPasswordPage() {
  const token = linkToken(RESET_PATH);
  return (
    <AccountPage heading={accountsTexts.resetHeading}>
      {token ? (
        <NewPassword token={token} />
      ) : (
        <>
          <Text c="dimmed">{accountsTexts.noToken}</Text>
          <ButtonLink to="/forgot-password" variant="default">
            {accountsTexts.askAgain}
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
          {accountsTexts.resetDone}
        </Alert>
        <ButtonLink to="/sign-in" fullWidth>
          {accountsTexts.signIn}
        </ButtonLink>
      </>
    );
  }
  return (
    <>
      <Text c="dimmed">{accountsTexts.resetIntro}</Text>
      <AccountForm form={form} action={accountsTexts.reset} onSubmit={submit}>
        <NewPasswordField label={accountsTexts.newPassword} autoFocus {...form.getInputProps("newPassword")} />
        <Checkbox
          label={accountsTexts.keepTokens}
          description={accountsTexts.keepTokensHint}
          {...form.getInputProps("keep_access_tokens", { type: "checkbox" })}
        />
      </AccountForm>
      <AnchorLink to="/forgot-password" size="sm" ta="center">
        {accountsTexts.askAgain}
      </AnchorLink>
    </>
  );
}
