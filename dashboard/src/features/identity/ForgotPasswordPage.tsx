import { Alert, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useForgotPassword } from "./accountsCalls";
import { AccountForm, AccountPage, EmailField } from "./AccountForm";
import { IconMail } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { t } from "../../texts";

export function ForgotPasswordPage() {
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
