import { Alert, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useSignIn } from "../api/accounts";
import { AccountForm, AccountPage, EmailField, PasswordField } from "../components/AccountForm";
import { AnchorLink } from "../components/links";
import { isRegistrationOpen } from "../lib/registration";
import { safeNext } from "../lib/search";
import { t } from "../texts";

const route = getRouteApi("/account/sign-in");

export function SignIn() {
  const { next, expired } = route.useSearch();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: "", password: "" } });
  const { mutateAsync: signIn } = useSignIn();
  const submit = async (values: typeof form.values) => {
    await signIn(values);
    await navigate({ href: safeNext(next), replace: true });
  };
  return (
    <AccountPage heading={t.accounts.signIn}>
      {expired && (
        <Alert color="signal" variant="light" py="xs">
          {t.accounts.expired}
        </Alert>
      )}
      <AccountForm form={form} action={t.accounts.signIn} onSubmit={submit}>
        <EmailField {...form.getInputProps("email")} />
        <PasswordField {...form.getInputProps("password")} />
      </AccountForm>
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
