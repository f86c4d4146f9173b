import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useRegister } from "./accountsCalls";
import { AccountPage, EmailField, NewPasswordField } from "./AccountForm";
import { EntryForm } from "./EntryForm";
import { AnchorLink } from "../../ui/links";
import { isRegistrationOpen } from "./registration";
import { nextHref, safeNext } from "../../ui/search";
import { t } from "../../texts";

const route = getRouteApi("/account/register");

export function RegisterPage() {
  return isRegistrationOpen() ? <NewAccount /> : <Closed />;
}

function Closed() {
  return (
    <AccountPage heading={t.accounts.closedHeading}>
      <Text c="dimmed">{t.accounts.registrationClosed}</Text>
      <AnchorLink to="/sign-in" size="sm" ta="center">
        {t.accounts.backToSignIn}
      </AnchorLink>
    </AccountPage>
  );
}

function NewAccount() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: "", password: "" } });
  const { mutateAsync: register } = useRegister();
  const submit = async (values: typeof form.values) => {
    await register(values);
    await navigate({ href: nextHref(next), replace: true });
  };
  return (
    <AccountPage heading={t.accounts.registerHeading}>
      <EntryForm form={form} action={t.accounts.register} returnTo={safeNext(next)} onSubmit={submit}>
        <EmailField {...form.getInputProps("email")} />
        <NewPasswordField {...form.getInputProps("password")} />
      </EntryForm>
      <Text size="sm" ta="center">
        {t.accounts.haveAccount}{" "}
        <AnchorLink to="/sign-in" search={next ? { next } : {}} size="sm" underline="always">
          {t.accounts.signIn}
        </AnchorLink>
      </Text>
    </AccountPage>
  );
}
