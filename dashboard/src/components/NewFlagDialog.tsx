import { Checkbox, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import type { EnvironmentPath } from "../api/client";
import { useCreateFlag } from "../api/flags";
import { proposeFlagKey } from "../lib/proposeKey";
import { useProposedKey } from "../lib/useProposedKey";
import { t } from "../texts";
import { DialogForm, FormDialog } from "./FormDialog";

interface Props {
  readonly path: EnvironmentPath;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewFlagDialog(props: Props) {
  return (
    <FormDialog title={t.flags.new} opened={props.opened} onClose={props.onClose}>
      <NewFlag {...props} />
    </FormDialog>
  );
}

function NewFlag({ path, onClose }: Props) {
  const navigate = useNavigate();
  const create = useCreateFlag(path);
  const form = useForm({ initialValues: { name: "", key: "", description: "", enabled: false } });
  const { onName, onKey } = useProposedKey(form, proposeFlagKey);
  const submit = async (values: { name: string; key: string; description: string; enabled: boolean }) => {
    const flag = await create.mutateAsync({
      ...values,
      description: values.description.trim() || null,
      rollout_percentage: 0,
    });
    onClose();
    await navigate({
      to: "/projects/$projectId/environments/$environmentId/flags/$flagId",
      params: { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id },
    });
  };
  return (
    <DialogForm form={form} action={t.flags.create} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t.flags.name}
        placeholder={t.flags.namePlaceholder}
        maxLength={255}
        data-autofocus
        {...form.getInputProps("name")}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <TextInput
        label={t.flags.key}
        description={t.flags.keyHint}
        maxLength={128}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("key")}
        onChange={(event) => onKey(event.currentTarget.value)}
      />
      <Textarea
        label={`${t.flags.description} (${t.optional})`}
        autosize
        minRows={2}
        maxRows={6}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
      <Checkbox label={t.flags.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
    </DialogForm>
  );
}
