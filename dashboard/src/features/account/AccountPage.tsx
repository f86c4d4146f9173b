/** One's own account: its email, password, second factors, sessions, mails and keyboard shortcuts. */

import { shellTexts } from "../../ui/shellTexts";
import { Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi } from "@tanstack/react-router";
import { useChangePassword } from "../identity/accountsCalls";
import { AccountChanges } from "../administration/AccountChanges";
import { DeleteAccount } from "../identity/DeleteAccount";
import { NewPasswordField, PasswordField } from "../identity/AccountForm";
import { DialogForm } from "../../ui/DialogForm";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { NotificationSettings } from "../notifications/NotificationSettings";
import { SingleKeysSwitch } from "../../ui/SingleKeysSwitch";
import { SessionList } from "../identity/SessionList";
import { SubscriptionList } from "../notifications/SubscriptionList";
import { TwoFactor } from "../identity/TwoFactor";
import { WayBack } from "../identity/WayBack";
import { notifyDone } from "../../api/notify";
import { currentSession } from "../../api/session";
import { accountsTexts } from "../identity/accountsTexts";
import { shortcuts } from "../../ui/shortcutsTexts";
import { tokens as tokenTexts } from "../credentials/tokensTexts";

const route = getRouteApi("/signed-in/account");

export function AccountPage() {
  const { next } = route.useSearch();
  const form = useForm({ initialValues: { current_password: "", new_password: "" } });
  const { mutateAsync: change } = useChangePassword();
  const submit = async (passwords: typeof form.values) => {
    await change(passwords);
    form.reset();
    notifyDone(accountsTexts.passwordChanged);
  };
  return (
    <Page title={shellTexts.ownAccount} intro={currentSession()?.email} size={620}>
      {next !== undefined && <WayBack next={next} />}
      <Stack gap="md">
        <Title order={2}>{accountsTexts.changePassword}</Title>
        <Text c="dimmed">{accountsTexts.changePasswordIntro}</Text>
        <DialogForm form={form} action={accountsTexts.changePassword} onSubmit={submit}>
          <PasswordField label={accountsTexts.currentPassword} {...form.getInputProps("current_password")} />
          <NewPasswordField label={accountsTexts.newPassword} {...form.getInputProps("new_password")} />
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
