/** A project's name, environments, requirement of second factors, what it shares, and deletion. */

import { Stack, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Project } from "../api/client";
import { useDeleteProject, useUpdateProject } from "../api/projects";
import { DeleteDialog } from "../components/shared/ConfirmDialog";
import { DialogForm } from "../components/shared/DialogForm";
import { EnvironmentList } from "../components/projects/EnvironmentList";
import { KeptDaysField } from "../components/projects/KeptDaysField";
import { DescriptionField, NameField } from "../components/shared/fields";
import { GuardedButton } from "../components/shared/GuardedButton";
import { ButtonLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { SharedContents } from "../components/projects/SharedContents";
import { SecondFactorDemand } from "../components/projects/SecondFactorDemand";
import { described } from "../lib/described";
import { kept } from "../lib/kept";
import { notifyDone } from "../lib/notify";
import { useDialog } from "../lib/hooks/useDialog";
import { useEditor } from "../lib/hooks/useEditor";
import { useGuard } from "../lib/hooks/useGuard";
import { useProject } from "../lib/hooks/useHere";
import { t } from "../texts";
import { deletion as deletionTexts } from "../texts/deletion";
import { settings } from "../texts/projects";
import { demand as texts } from "../texts/demand";
import { sharing } from "../texts/sharing";
import classes from "./Settings.module.css";

export function Settings() {
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
    <DialogForm form={form} action={t.save} needs="project:write" onSubmit={submit} editing={editing}>
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
