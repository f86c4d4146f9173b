import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useRegister } from "./accountsCalls";
import { AccountPage, EmailField, NewPasswordField } from "./AccountForm";
import { EntryForm } from "./EntryForm";
import { AnchorLink } from "../../ui/links";
import { isRegistrationOpen } from "./registration";
import { nextHref, safeNext } from "../../ui/search";
import { accountsTexts } from "./accountsTexts";

const route = getRouteApi("/account/register");

export function RegisterPage() {
  return isRegistrationOpen() ? <NewAccount /> : <Closed />;
}

function Closed() {
  return (
    <AccountPage heading={accountsTexts.closedHeading}>
      <Text c="dimmed">{accountsTexts.registrationClosed}</Text>
      <AnchorLink to="/sign-in" size="sm" ta="center">
        {accountsTexts.backToSignIn}
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
    <AccountPage heading={accountsTexts.registerHeading}>
      <EntryForm form={form} action={accountsTexts.register} returnTo={safeNext(next)} onSubmit={submit}>
        <EmailField {...form.getInputProps("email")} />
        <NewPasswordField {...form.getInputProps("password")} />
      </EntryForm>
      <Text size="sm" ta="center">
        {accountsTexts.haveAccount}{" "}
        <AnchorLink to="/sign-in" search={next ? { next } : {}} size="sm" underline="always">
          {accountsTexts.signIn}
        </AnchorLink>
      </Text>
    </AccountPage>
  );
}
