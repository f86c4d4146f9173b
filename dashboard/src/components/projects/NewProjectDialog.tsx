import { Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useCreateProject } from "../../api/projects";
import { described } from "../../lib/described";
import type { DialogProps } from "../../lib/useDialog";
import { projects as texts } from "../../texts/projects";
import { DialogForm } from "../shared/DialogForm";
import { DescriptionField, NameField } from "../shared/fields";

export function NewProjectDialog(props: DialogProps) {
  return (
    <Modal title={texts.new} {...props}>
      <NewProject onClose={props.onClose} />
    </Modal>
  );
}

function NewProject({ onClose }: Pick<DialogProps, "onClose">) {
  const navigate = useNavigate();
  const create = useCreateProject();
  const form = useForm({ initialValues: { name: "", description: "" } });
  const submit = async (values: typeof form.values) => {
    const project = await create.mutateAsync(described(values));
    onClose();
    await navigate({ to: "/projects/$projectId", params: { projectId: project.id } });
  };
  return (
    <DialogForm form={form} action={texts.create} onSubmit={submit} onClose={onClose}>
      <NameField placeholder={texts.namePlaceholder} {...form.getInputProps("name")} />
      <DescriptionField {...form.getInputProps("description")} />
    </DialogForm>
  );
}
