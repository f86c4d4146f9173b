import { Alert, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useForgotPassword } from "./accountsCalls";
import { AccountForm, AccountPage, EmailField } from "./AccountForm";
import { IconMail } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { accountsTexts } from "./accountsTexts";

export function ForgotPasswordPage() {
  const form = useForm({ initialValues: { email: "" } });
  const { mutateAsync: request, data: sent } = useForgotPassword();
  return (
    <AccountPage heading={accountsTexts.forgotHeading}>
      <Text c="dimmed">{accountsTexts.forgotIntro}</Text>
      <AccountForm form={form} action={accountsTexts.sendLink} onSubmit={request}>
        <EmailField {...form.getInputProps("email")} />
      </AccountForm>
      {sent && (
        <Alert role="status" color="live" variant="light" icon={<IconMail />} title={accountsTexts.linkSent} py="xs">
          {sent.message}
        </Alert>
      )}
      <AnchorLink to="/sign-in" size="sm" ta="center">
        {accountsTexts.backToSignIn}
      </AnchorLink>
    </AccountPage>
  );
}
