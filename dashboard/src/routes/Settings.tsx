/** A project's name, SDK key and environments, and its end. */

import { Button, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Project } from "../api/client";
import { useDeleteProject, useUpdateProject } from "../api/projects";
import { DeleteDialog } from "../components/DeleteDialog";
import { EnvironmentList } from "../components/EnvironmentList";
import { DialogForm } from "../components/FormDialog";
import { Page } from "../components/Page";
import { SdkKey } from "../components/SdkKey";
import { notifyDone } from "../lib/notify";
import { useProject } from "../lib/useHere";
import { t } from "../texts";
import classes from "./Settings.module.css";

export function Settings() {
  const project = useProject();
  return (
    <Page title={t.settings.heading}>
      <Section title={t.settings.general}>
        <General key={project.id} project={project} />
      </Section>
      <Section title={t.settings.sdkKey} text={t.settings.sdkKeyText}>
        <SdkKey project={project} />
      </Section>
      <Section title={t.settings.environments} text={t.settings.environmentsText} id="environments">
        <EnvironmentList projectId={project.id} />
      </Section>
      <Section title={t.settings.danger} text={t.settings.dangerText}>
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
  const form = useForm({ initialValues: { name: project.name, description: project.description ?? "" } });
  const save = async ({ name, description }: { name: string; description: string }) => {
    await update.mutateAsync({ name, description: description.trim() || null });
    notifyDone(t.settings.saved);
  };
  return (
    <DialogForm form={form} action={t.save} onSubmit={save}>
      <TextInput label={t.projects.name} maxLength={255} {...form.getInputProps("name")} />
      <Textarea
        label={`${t.projects.description} (${t.optional})`}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
    </DialogForm>
  );
}

function DeleteProject({ project }: { project: Project }) {
  const [asking, dialog] = useDisclosure(false);
  const navigate = useNavigate();
  const remove = useDeleteProject(project.id);
  const confirm = async () => {
    await remove.mutateAsync();
    await navigate({ to: "/", replace: true });
    notifyDone(t.deletion.done(project.name));
  };
  return (
    <>
      <Button variant="outline" color="alarm" onClick={dialog.open}>
        {t.settings.deleteProject}
      </Button>
      <DeleteDialog
        name={project.name}
        consequence={t.deletion.project}
        opened={asking}
        onClose={dialog.close}
        onDelete={confirm}
      />
    </>
  );
}
