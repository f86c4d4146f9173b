import { Alert, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useForgotPassword } from "../api/accounts";
import { AccountForm, AccountPage, EmailField } from "../components/accounts/AccountForm";
import { IconMail } from "../components/shared/icons";
import { AnchorLink } from "../components/shared/links";
import { t } from "../texts";

export function ForgotPassword() {
  const form = useForm({ initialValues: { email: "" } });
  const { mutateAsync: request, data: sent } = useForgotPassword();
  return (
    <AccountPage heading={t.accounts.forgotHeading}>
      <Text c="dimmed">{t.accounts.forgotIntro}</Text>
      <AccountForm form={form} action={t.accounts.sendLink} onSubmit={request}>
        <EmailField {...form.getInputProps("email")} />
      </AccountForm>
      {sent && (
        <Alert role="status" color="live" variant="light" icon={<IconMail />} title={t.accounts.linkSent} py="xs">
          {sent.message}
        </Alert>
      )}
      <AnchorLink to="/sign-in" size="sm" ta="center">
        {t.accounts.backToSignIn}
      </AnchorLink>
    </AccountPage>
  );
}
