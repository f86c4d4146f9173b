/** The dialogs for inviting somebody, and for changing the role of a member. */

import { Modal, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Environment } from "../../api/client";
import { useInvite } from "../../api/invitations";
import { type Member, useUpdateMember } from "../../api/members";
import { notifyDone } from "../../lib/notify";
import { type RolesDraft, rolesDraftOf, rolesOf } from "../../lib/roles";
import type { DialogProps } from "../../lib/useDialog";
import { t } from "../../texts";
import { members as memberTexts } from "../../texts/members";
import { DialogForm } from "../shared/DialogForm";
import { RoleFields } from "./RoleFields";

interface Shared extends DialogProps {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly mayMakeOwners: boolean;
}

export function InviteDialog(props: Shared) {
  return (
    <Modal title={memberTexts.invite} opened={props.opened} onClose={props.onClose}>
      <InviteForm {...props} />
    </Modal>
  );
}

function InviteForm({ projectId, environments, mayMakeOwners, onClose }: Shared) {
  const { mutateAsync: invite } = useInvite(projectId);
  const start = rolesDraftOf({ role: "editor", environments: {} }, keysOf(environments));
  const form = useForm<RolesDraft & { email: string }>({ initialValues: { email: "", ...start } });
  const submit = async ({ email, ...roles }: typeof form.values) => {
    await invite({ email, ...rolesOf(roles) });
    notifyDone(memberTexts.invited(email));
    onClose();
  };
  return (
    <DialogForm form={form} action={memberTexts.inviteDo} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t.accounts.email}
        description={memberTexts.inviteHint}
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("email")}
      />
      <RoleFields form={form} environments={environments} mayMakeOwners={mayMakeOwners} />
    </DialogForm>
  );
}

export function MemberDialog({ member, ...props }: Shared & { readonly member: Member }) {
  return (
    <Modal title={memberTexts.changeRole} opened={props.opened} onClose={props.onClose}>
      <MemberForm member={member} {...props} />
    </Modal>
  );
}

function MemberForm({ member, projectId, environments, mayMakeOwners, onClose }: Shared & { member: Member }) {
  const { mutateAsync: update } = useUpdateMember(projectId);
  const form = useForm<RolesDraft>({ initialValues: rolesDraftOf(member, keysOf(environments)) });
  const submit = async (values: RolesDraft) => {
    await update({ accountId: member.account_id, ...rolesOf(values) });
    onClose();
  };
  return (
    <DialogForm form={form} action={t.save} onSubmit={submit} onClose={onClose}>
      <TextInput label={t.accounts.email} value={member.email} readOnly variant="filled" />
      <RoleFields form={form} environments={environments} mayMakeOwners={mayMakeOwners} />
    </DialogForm>
  );
}

function keysOf(environments: readonly Environment[]): string[] {
  return environments.map(({ key }) => key);
}
