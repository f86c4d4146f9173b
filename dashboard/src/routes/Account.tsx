/** One's own account: its email, password, second factors, sessions, mails and keyboard shortcuts. */

import { Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi } from "@tanstack/react-router";
import { useChangePassword } from "../api/accounts";
import { AccountChanges } from "../components/accounts/AccountChanges";
import { DeleteAccount } from "../components/accounts/DeleteAccount";
import { NewPasswordField, PasswordField } from "../components/accounts/AccountForm";
import { DialogForm } from "../components/shared/DialogForm";
import { AnchorLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { NotificationSettings } from "../components/accounts/NotificationSettings";
import { SingleKeysSwitch } from "../components/shell/SingleKeysSwitch";
import { SessionList } from "../components/accounts/SessionList";
import { SubscriptionList } from "../components/subscriptions/SubscriptionList";
import { TwoFactor } from "../components/accounts/TwoFactor";
import { WayBack } from "../components/accounts/WayBack";
import { notifyDone } from "../lib/notify";
import { currentSession } from "../lib/signIn/session";
import { t } from "../texts";
import { shortcuts } from "../texts/shortcuts";
import { tokens as tokenTexts } from "../texts/tokens";

const route = getRouteApi("/signed-in/account");

export function Account() {
  const { next } = route.useSearch();
  const form = useForm({ initialValues: { current_password: "", new_password: "" } });
  const { mutateAsync: change } = useChangePassword();
  const submit = async (passwords: typeof form.values) => {
    await change(passwords);
    form.reset();
    notifyDone(t.accounts.passwordChanged);
  };
  return (
    <Page title={t.accounts.heading} intro={currentSession()?.email} size={620}>
      {next !== undefined && <WayBack next={next} />}
      <Stack gap="md">
        <Title order={2}>{t.accounts.changePassword}</Title>
        <Text c="dimmed">{t.accounts.changePasswordIntro}</Text>
        <DialogForm form={form} action={t.accounts.changePassword} onSubmit={submit}>
          <PasswordField label={t.accounts.currentPassword} {...form.getInputProps("current_password")} />
          <NewPasswordField label={t.accounts.newPassword} {...form.getInputProps("new_password")} />
        </DialogForm>
      </Stack>
      <TwoFactor />
      <SessionList />
      <NotificationSettings />
      <Stack component="section" gap="md" mt="xl" aria-label={shortcuts.heading}>
        <Title order={2}>{shortcuts.heading}</Title>
        <SingleKeysSwitch />
      </Stack>
      <SubscriptionList />
      <AnchorLink to="/account/tokens" display="block" mt="lg">
        {tokenTexts.own}
      </AnchorLink>
      <AccountChanges />
      <DeleteAccount />
    </Page>
  );
}
