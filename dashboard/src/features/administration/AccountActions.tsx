/** The actions of an administrator on an account. Each needs a confirmation that says what ends and what stays. */

import { Group } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import {
  type AdministeredAccount,
  type AccountUpdate,
  useDeleteAccount,
  useUpdateAccount,
} from "./administrationCalls";
import { useDialog } from "../../ui/useDialog";
import { notifyDone } from "../../api/notify";
import { administration as texts } from "./administrationTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";

interface Props {
  readonly account: AdministeredAccount;
  readonly isSelf: boolean;
}

export function AccountActions({ account, isSelf }: Props) {
  const { administrator, active } = account;
  return (
    <Group gap="xs">
      <Action
        account={account}
        isSelf={isSelf}
        update={{ administrator: !administrator }}
        name={administrator ? texts.demote : texts.promote}
        heading={administrator ? texts.demoteHeading : texts.promoteHeading}
        text={administrator ? texts.demoteText : texts.promoteText}
      />
      <Action
        account={account}
        isSelf={isSelf}
        update={{ active: !active }}
        name={active ? texts.deactivate : texts.reactivate}
        heading={active ? texts.deactivateHeading : texts.reactivateHeading}
        text={active ? texts.deactivateText : texts.reactivateText}
      />
      <Removal account={account} isSelf={isSelf} />
    </Group>
  );
}

interface ActionProps extends Props {
  readonly update: AccountUpdate;
  readonly name: string;
  readonly heading: (email: string) => string;
  readonly text: string;
}

function Action({ account, isSelf, update, name, heading, text }: ActionProps) {
  const confirmation = useDialog();
  const { mutateAsync } = useUpdateAccount(account);
  const confirm = async () => {
    await mutateAsync(update);
    confirmation.props.onClose();
  };
  return (
    <>
      <GuardedButton variant="default" refusal={isSelf ? texts.self : null} onClick={confirmation.open}>
        {name}
      </GuardedButton>
      <ConfirmDialog
        title={heading(account.email)}
        consequence={text}
        action={name}
        of={{ projectId: "", id: account.id, resource: account }}
        onConfirm={confirm}
        {...confirmation.props}
      />
    </>
  );
}

function Removal({ account, isSelf }: Props) {
  const confirmation = useDialog();
  const navigate = useNavigate();
  const { mutateAsync } = useDeleteAccount(account.id);
  const confirm = async (tag: string | null) => {
    await mutateAsync(tag);
    notifyDone(texts.removed(account.email));
    await navigate({ to: "/admin/accounts" });
  };
  return (
    <>
      <GuardedButton variant="default" refusal={isSelf ? texts.removeSelf : null} onClick={confirmation.open}>
        {texts.remove}
      </GuardedButton>
      <ConfirmDialog
        title={texts.removeHeading(account.email)}
        consequence={texts.removeText}
        action={texts.remove}
        name={account.email}
        onConfirm={confirm}
        {...confirmation.props}
      />
    </>
  );
}
