import { Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { environmentsQuery } from "../../api/environments";
import { useCreateProject } from "../../api/projects";
import { described } from "../../ui/described";
import { ENVIRONMENT, PROJECT } from "../../ui/pages";
import type { DialogProps } from "../../ui/useDialog";
import { projects as texts } from "./projectsTexts";
import { DialogForm } from "../../ui/DialogForm";
import { DescriptionField, NameField } from "../../ui/fields";

export function NewProjectDialog(props: DialogProps) {
  return (
    <Modal title={texts.new} {...props}>
      <NewProject onClose={props.onClose} />
    </Modal>
  );
}

function NewProject({ onClose }: Pick<DialogProps, "onClose">) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const create = useCreateProject();
  const form = useForm({ initialValues: { name: "", description: "" } });
  const submit = async (values: typeof form.values) => {
    const project = await create.mutateAsync(described(values));
    onClose();
    const [first] = await cache.query(environmentsQuery(project.id));
    const params = { projectId: project.id };
    // The first step in a new project is to create a flag.
    await (first
      ? navigate({ to: ENVIRONMENT, params: { ...params, environmentId: first.id } })
      : navigate({ to: PROJECT, params }));
  };
  return (
    <DialogForm form={form} action={texts.create} onSubmit={submit} onClose={onClose}>
      <NameField placeholder={texts.namePlaceholder} {...form.getInputProps("name")} />
      <DescriptionField {...form.getInputProps("description")} />
    </DialogForm>
  );
}
