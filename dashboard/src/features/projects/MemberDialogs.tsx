/** The dialogs for inviting somebody, and for changing the role of a member. */

import { Modal, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Environment } from "../../api/client";
import { useInvite } from "./invitationsCalls";
import { loadMember, type Member, useUpdateMember } from "../../api/members";
import { notifyDone } from "../../api/notify";
import { type RolesDraft, rolesDraftOf, rolesOf } from "../../ui/roles";
import { useEditor } from "../../ui/editing/useEditor";
import type { DialogProps } from "../../ui/useDialog";
import { accountsTexts } from "../identity/accountsTexts";
import { common } from "../../ui/commonTexts";
import { members as memberTexts } from "./membersTexts";
import { DialogForm } from "../../ui/DialogForm";
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
        label={accountsTexts.email}
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
  const { form, submit, editing } = useEditor<Member, RolesDraft>({
    draft: draftOfMember(projectId, member),
    projectId,
    resourceId: member.account_id,
    resource: member,
    load: () => loadMember(projectId, member.account_id),
    valuesOf: (roles) => rolesDraftOf(roles, keysOf(environments)),
    fieldsOf: rolesOf,
    send: (body, tag) => update({ ...body, accountId: member.account_id, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose} editing={editing}>
      <TextInput label={accountsTexts.email} value={member.email} readOnly variant="filled" />
      <RoleFields form={form} environments={environments} mayMakeOwners={mayMakeOwners} />
    </DialogForm>
  );
}

/** The key of the draft of a member's roles. */
export function draftOfMember(projectId: string, { account_id: id }: Member): string {
  return `member ${projectId} ${id}`;
}

function keysOf(environments: readonly Environment[]): string[] {
  return environments.map(({ key }) => key);
}
