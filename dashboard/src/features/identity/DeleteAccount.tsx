/** Deletes the own account, which takes the password, or a fresh sign-in at an identity provider. */

import { Button, Modal, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useDeleteOwnAccount } from "./accountsCalls";
import { providersQuery } from "./singleSignOnCalls";
import { useDialog } from "../../ui/useDialog";
import { notifyDone } from "../../api/notify";
import { accountsTexts } from "./accountsTexts";
import { DialogForm } from "../../ui/DialogForm";
import { PasswordField } from "./AccountForm";

export function DeleteAccount() {
  const dialog = useDialog();
  return (
    <Stack component="section" gap="md" mt="xl" align="flex-start" aria-label={accountsTexts.deleteAccount}>
      <Stack gap={4}>
        <Title order={2}>{accountsTexts.deleteAccount}</Title>
        <Text c="dimmed">{accountsTexts.deleteIntro}</Text>
      </Stack>
      <Button variant="default" onClick={dialog.open}>
        {accountsTexts.deleteAccount}
      </Button>
      <Modal title={accountsTexts.deleteHeading} {...dialog.props}>
        <Confirmation onClose={dialog.props.onClose} />
      </Modal>
    </Stack>
  );
}

function Confirmation({ onClose }: { onClose: () => void }) {
  const form = useForm({ initialValues: { current_password: "" } });
  const { mutateAsync: remove } = useDeleteOwnAccount();
  const { data: providers = [] } = useQuery(providersQuery);
  const submit = async ({ current_password }: typeof form.values) => {
    await remove(current_password ? { current_password } : {});
    notifyDone(accountsTexts.accountDeleted);
  };
  return (
    <DialogForm form={form} action={accountsTexts.deleteAccount} onSubmit={submit} onClose={onClose}>
      <Text>{accountsTexts.deleteText}</Text>
      <PasswordField
        label={accountsTexts.currentPassword}
        description={providers.length > 0 ? accountsTexts.deletePasswordHint : undefined}
        data-autofocus
        {...form.getInputProps("current_password")}
      />
    </DialogForm>
  );
}
