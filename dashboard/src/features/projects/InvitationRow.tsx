/** An invitation that has not been accepted yet. */

import { Group } from "@mantine/core";
import { type Invitation, useRevoke, useSendAgain } from "./invitationsCalls";
import { notifyDone, notifyRefused } from "../../api/notify";
import { neededFor, rolesInWords } from "../../ui/roles";
import { inFull } from "../../ui/time";
import { useDialog } from "../../ui/useDialog";
import { members as memberTexts } from "./membersTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";
import classes from "../../ui/ListRows.module.css";
import { Given } from "../../ui/Given";

interface Props {
  readonly projectId: string;
  readonly invitation: Invitation;
  readonly onRevoked: () => void;
}

export function InvitationRow({ projectId, invitation, onRevoked }: Props) {
  const { id, email, role, sent_at: sentAt, expires_at: expiresAt } = invitation;
  const revocation = useDialog();
  const { mutateAsync: revoke } = useRevoke(projectId);
  const { mutate: sendAgain, isPending } = useSendAgain(projectId);
  const needs = neededFor(role);
  const send = () =>
    sendAgain(id, {
      onSuccess: () => notifyDone(memberTexts.invited(email)),
      onError: (error) => notifyRefused(memberTexts.notSent, error),
    });
  const revokeIt = async () => {
    await revoke(id);
    onRevoked();
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={email} />
        </span>
        <span className={classes.details}>
          {rolesInWords(invitation)}. {sentAt ? memberTexts.valid(inFull(expiresAt)) : memberTexts.unsent}
        </span>
      </div>
      <Group gap={6}>
        <GuardedButton
          {...BUTTON}
          needs={needs}
          loading={isPending}
          label={memberTexts.sendAgainTo(email)}
          onClick={send}
        >
          {memberTexts.sendAgain}
        </GuardedButton>
        <GuardedButton {...BUTTON} needs={needs} label={memberTexts.revokeOf(email)} onClick={revocation.open}>
          {memberTexts.revoke}
        </GuardedButton>
      </Group>
      <ConfirmDialog
        title={memberTexts.revokeHeading(email)}
        consequence={memberTexts.revokeText}
        action={memberTexts.revoke}
        onConfirm={revokeIt}
        {...revocation.props}
      />
    </li>
  );
}

const BUTTON = { variant: "default", size: "compact-sm" } as const;
