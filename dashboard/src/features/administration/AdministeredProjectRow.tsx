/** A project of any account: a link to it for members, and a way to join it for others. */

import { Button, Modal, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useEffect, useRef } from "react";
import { type AdministeredProject, useJoinProject } from "./administrationCalls";
import { notifyDone } from "../../api/notify";
import type { RolesDraft } from "../../ui/roles";
import { type DialogProps, useDialog } from "../../ui/useDialog";
import { rolesTexts } from "../../ui/rolesTexts";
import { administration } from "./administrationTexts";
import classes from "./Administration.module.css";
import { DialogForm } from "../../ui/DialogForm";
import { ButtonLink } from "../../ui/links";
import { RoleFields } from "../projects/RoleFields";
import { When } from "../../ui/When";
import { Given } from "../../ui/Given";

export function AdministeredProjectRow({ project }: { project: AdministeredProject }) {
  const { id, name, role, owner_email: owner, created_at: createdAt } = project;
  const joining = useDialog();
  const row = useRef<HTMLLIElement>(null);
  const joined = useRef(false);
  const isMember = role !== null;
  const { opened } = joining.props;
  useEffect(() => {
    if (!joined.current || !isMember || opened) return;
    joined.current = false;
    row.current?.querySelector("a")?.focus(); // the button that opened the dialog is gone
  }, [isMember, opened]);
  return (
    <li ref={row} className={classes.row}>
      <div className={classes.name}>
        <Given text={name} />
        <div className={classes.detail}>
          {administration.firstOwner(owner)} · {administration.created.toLowerCase()} <When at={createdAt} />
        </div>
      </div>
      <div className={classes.end}>
        {role && <span className={classes.detail}>{administration.yourRole(rolesTexts.roles[role])}</span>}
        {role ? (
          <ButtonLink
            to="/projects/$projectId"
            params={{ projectId: id }}
            aria-label={administration.openOf(name)}
            {...BUTTON}
          >
            {administration.open}
          </ButtonLink>
        ) : (
          <Button aria-label={administration.joinOf(name)} onClick={joining.open} {...BUTTON}>
            {administration.join}
          </Button>
        )}
      </div>
      <Modal title={administration.joinHeading(name)} {...joining.props}>
        <JoinForm project={project} onJoined={() => (joined.current = true)} {...joining.props} />
      </Modal>
    </li>
  );
}

interface FormProps extends DialogProps {
  readonly project: AdministeredProject;
  readonly onJoined: () => void;
}

function JoinForm({ project, onJoined, onClose }: FormProps) {
  const { mutateAsync: join } = useJoinProject(project.id);
  const form = useForm<RolesDraft>({ initialValues: { role: "viewer", environments: {} } });
  const submit = async ({ role }: RolesDraft) => {
    await join({ role });
    onJoined();
    onClose();
    notifyDone(administration.joined(project.name));
  };
  return (
    <DialogForm form={form} action={administration.joinDo} onSubmit={submit} onClose={onClose}>
      <Text className="break">{administration.joinText}</Text>
      <RoleFields form={form} environments={[]} mayMakeOwners />
    </DialogForm>
  );
}

const BUTTON = { variant: "default", size: "compact-sm" } as const;
