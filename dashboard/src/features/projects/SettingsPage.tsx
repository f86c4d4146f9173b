/** A project's name, environments, requirement of second factors, what it shares, and deletion. */

import { Stack, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Project } from "../../api/client";
import { useDeleteProject, useUpdateProject } from "../../api/projects";
import { DeleteDialog } from "../../ui/ConfirmDialog";
import { DialogForm } from "../../ui/DialogForm";
import { EnvironmentList } from "./EnvironmentList";
import { KeptDaysField } from "./KeptDaysField";
import { DescriptionField, NameField } from "../../ui/fields";
import { GuardedButton } from "../../ui/GuardedButton";
import { ButtonLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { SharedContents } from "./SharedContents";
import { SecondFactorDemand } from "./SecondFactorDemand";
import { described } from "../../ui/described";
import { kept } from "./kept";
import { notifyDone } from "../../api/notify";
import { useDialog } from "../../ui/useDialog";
import { useEditor } from "../../ui/editing/useEditor";
import { useGuard } from "../../ui/useGuard";
import { useProject } from "../../ui/useHere";
import { common } from "../../ui/commonTexts";
import { deletion as deletionTexts } from "../../ui/deletionTexts";
import { settings } from "./projectsTexts";
import { demand as texts } from "./demandTexts";
import { sharing } from "./sharingTexts";
import classes from "./SettingsPage.module.css";

export function SettingsPage() {
  const project = useProject();
  return (
    <Page title={settings.heading}>
      <Section title={settings.general}>
        <General key={project.id} project={project} />
      </Section>
      <Section title={settings.environments} text={settings.environmentsText} id="environments">
        <EnvironmentList projectId={project.id} />
      </Section>
      <Section title={texts.heading} text={texts.text}>
        <SecondFactorDemand projectId={project.id} />
      </Section>
      <Section title={sharing.heading} text={sharing.text}>
        <SharedContents project={project} />
      </Section>
      <Section title={settings.usersData} text={settings.usersDataText}>
        <ButtonLink variant="default" to="/projects/$projectId/erasures" params={{ projectId: project.id }}>
          {settings.eraseUser}
        </ButtonLink>
      </Section>
      <Section title={settings.danger} text={settings.dangerText}>
        <DeleteProject project={project} />
      </Section>
    </Page>
  );
}

interface SectionProps {
  readonly title: string;
  readonly text?: string;
  readonly id?: string;
  readonly children: ReactNode;
}

function Section({ title, text, id, children }: SectionProps) {
  return (
    <section className={classes.section} id={id} aria-label={title}>
      <Stack gap={4}>
        <Title order={2}>{title}</Title>
        {text && <Text c="dimmed">{text}</Text>}
      </Stack>
      <div className={classes.content}>{children}</div>
    </section>
  );
}

function General({ project }: { project: Project }) {
  const update = useUpdateProject(project.id);
  const readOnly = useGuard({ needs: "project:write" }).reason !== null;
  const { form, submit, editing } = useEditor({
    draft: `project ${project.id}`,
    projectId: project.id,
    resourceId: project.id,
    resource: project,
    valuesOf: ({ name, description, history_retention_days: days }) => ({
      name,
      description: description ?? "",
      history_retention_days: days ?? "",
    }),
    fieldsOf: (values) => described(kept(values)),
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    stays: true,
    onDone: () => notifyDone(settings.saved),
  });
  return (
    <DialogForm form={form} action={common.save} needs="project:write" onSubmit={submit} editing={editing}>
      <NameField readOnly={readOnly} {...form.getInputProps("name")} />
      <DescriptionField readOnly={readOnly} {...form.getInputProps("description")} />
      <KeptDaysField
        readOnly={readOnly}
        description={settings.keptInProject}
        {...form.getInputProps("history_retention_days")}
      />
    </DialogForm>
  );
}

function DeleteProject({ project }: { project: Project }) {
  const deletion = useDialog();
  const navigate = useNavigate();
  const remove = useDeleteProject(project.id);
  const deleteIt = async (tag: string | null) => {
    await remove.mutateAsync({ tag });
    await navigate({ to: "/", replace: true });
  };
  return (
    <>
      <GuardedButton needs="project:delete" variant="outline" color="alarm" onClick={deletion.open}>
        {settings.deleteProject}
      </GuardedButton>
      <DeleteDialog
        name={project.name}
        consequence={deletionTexts.project}
        of={{ projectId: project.id, id: project.id, resource: project }}
        onDelete={deleteIt}
        {...deletion.props}
      />
    </>
  );
}
