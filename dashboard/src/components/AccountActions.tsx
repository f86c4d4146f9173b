/** What an administrator can do about an account, each after a confirmation that says what ends and what stays. */

import { Group } from "@mantine/core";
import { type AdministeredAccount, type AccountUpdate, useUpdateAccount } from "../api/administration";
import { useDialog } from "../lib/useDialog";
import { administration } from "../texts/administration";
import { ConfirmDialog } from "./ConfirmDialog";
import { GuardedButton } from "./GuardedButton";

interface Props {
  readonly account: AdministeredAccount;
  readonly isSelf: boolean;
}

export function AccountActions({ account, isSelf }: Props) {
  const words = administration;
  const { administrator, active } = account;
  return (
    <Group gap="xs">
      <Action
        account={account}
        isSelf={isSelf}
        update={{ administrator: !administrator }}
        name={administrator ? words.demote : words.promote}
        heading={administrator ? words.demoteHeading : words.promoteHeading}
        text={administrator ? words.demoteText : words.promoteText}
      />
      <Action
        account={account}
        isSelf={isSelf}
        update={{ active: !active }}
        name={active ? words.deactivate : words.reactivate}
        heading={active ? words.deactivateHeading : words.reactivateHeading}
        text={active ? words.deactivateText : words.reactivateText}
      />
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
  const { mutateAsync } = useUpdateAccount(account.id);
  const confirm = async () => {
    await mutateAsync(update);
    confirmation.props.onClose();
  };
  return (
    <>
      <GuardedButton variant="default" refusal={isSelf ? administration.self : null} onClick={confirmation.open}>
        {name}
      </GuardedButton>
      <ConfirmDialog
        title={heading(account.email)}
        consequence={text}
        action={name}
        onConfirm={confirm}
        {...confirmation.props}
      />
    </>
  );
}
