import { Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useCreateProject } from "../api/projects";
import { t } from "../texts";
import { DialogForm, FormDialog } from "./FormDialog";

interface Props {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewProjectDialog(props: Props) {
  return (
    <FormDialog title={t.projects.new} {...props}>
      <NewProject onClose={props.onClose} />
    </FormDialog>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const create = useCreateProject();
  const form = useForm({ initialValues: { name: "", description: "" } });
  const submit = async ({ name, description }: { name: string; description: string }) => {
    const project = await create.mutateAsync({ name, description: description.trim() || null });
    onClose();
    await navigate({ to: "/projects/$projectId", params: { projectId: project.id } });
  };
  return (
    <DialogForm form={form} action={t.projects.create} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t.projects.name}
        placeholder={t.projects.namePlaceholder}
        maxLength={255}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Textarea
        label={`${t.projects.description} (${t.optional})`}
        autosize
        minRows={2}
        maxRows={6}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
    </DialogForm>
  );
}
