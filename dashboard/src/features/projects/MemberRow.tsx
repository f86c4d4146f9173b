/** A member with its roles and actions. */

import { Group } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Environment } from "../../api/client";
import { loadMember, type Member, type OwnPermissions, useRemoveMember, useTransferOwnership } from "../../api/members";
import { neededFor, rolesInWords } from "../../ui/roles";
import { useDialog } from "../../ui/useDialog";
import { members as memberTexts } from "./membersTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";
import { draftOfMember, MemberDialog } from "./MemberDialogs";
import classes from "../../ui/ListRows.module.css";
import { Given } from "../../ui/Given";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly member: Member;
  /** The membership of the signed-in account. */
  readonly self: Member | undefined;
  readonly own: OwnPermissions | undefined;
  readonly onRemoved: () => void;
}

export function MemberRow({ projectId, environments, member, self, own, onRemoved }: Props) {
  const [editing, removal, transfer] = [useDialog(draftOfMember(projectId, member)), useDialog(), useDialog()];
  const navigate = useNavigate();
  const { mutateAsync: remove } = useRemoveMember(projectId);
  const { mutateAsync: transferOwnership } = useTransferOwnership(projectId);
  const isSelf = member.account_id === self?.account_id;
  const needs = neededFor(member.role);
  const mayMakeOwners = own?.permissions.includes("owners:write") ?? false;
  const load = () => loadMember(projectId, member.account_id);
  const removeIt = async (tag: string | null) => {
    await remove({ accountId: member.account_id, leaves: isSelf, tag });
    if (isSelf) await navigate({ to: "/", replace: true });
    else onRemoved();
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={member.email} />
        </span>
        {isSelf && <span className={classes.self}> ({memberTexts.you})</span>}
        <span className={classes.details}>{rolesInWords(member)}</span>
      </div>
      <Group gap={6}>
        {self && !isSelf && (
          <GuardedButton
            {...BUTTON}
            needs="owners:write"
            label={memberTexts.transferTo(member.email)}
            onClick={transfer.open}
          >
            {memberTexts.transfer}
          </GuardedButton>
        )}
        <GuardedButton {...BUTTON} needs={needs} label={memberTexts.changeRoleOf(member.email)} onClick={editing.open}>
          {memberTexts.changeRole}
        </GuardedButton>
        <GuardedButton
          {...BUTTON}
          needs={isSelf ? undefined : needs}
          label={isSelf ? memberTexts.leave : memberTexts.removeOf(member.email)}
          onClick={removal.open}
        >
          {isSelf ? memberTexts.leave : memberTexts.remove}
        </GuardedButton>
      </Group>
      <MemberDialog
        projectId={projectId}
        environments={environments}
        mayMakeOwners={mayMakeOwners}
        member={member}
        {...editing.props}
      />
      <ConfirmDialog
        title={isSelf ? memberTexts.leaveHeading : memberTexts.removeHeading(member.email)}
        consequence={isSelf ? memberTexts.leaveText : memberTexts.removeText}
        action={isSelf ? memberTexts.leave : memberTexts.remove}
        {...(!isSelf && { of: { projectId, id: member.account_id, resource: member, load } })}
        onConfirm={removeIt}
        {...removal.props}
      />
      <ConfirmDialog
        title={memberTexts.transferHeading(member.email)}
        consequence={memberTexts.transferText}
        action={memberTexts.transfer}
        onConfirm={async () => {
          await transferOwnership({ from: self?.account_id ?? "", to: member.account_id });
          transfer.props.onClose();
        }}
        {...transfer.props}
      />
    </li>
  );
}

const BUTTON = { variant: "default", size: "compact-sm" } as const;
