import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useCreateEnvironment } from "../api/environments";
import { proposeEnvironmentKey } from "../lib/proposeKey";
import { useProposedKey } from "../lib/useProposedKey";
import { t } from "../texts";
import { DialogForm, FormDialog } from "./FormDialog";

interface Props {
  readonly projectId: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewEnvironmentDialog(props: Props) {
  return (
    <FormDialog title={t.settings.environmentNew} opened={props.opened} onClose={props.onClose}>
      <NewEnvironment {...props} />
    </FormDialog>
  );
}

function NewEnvironment({ projectId, onClose }: Props) {
  const create = useCreateEnvironment(projectId);
  const form = useForm({ initialValues: { name: "", key: "" } });
  const { onName, onKey } = useProposedKey(form, proposeEnvironmentKey);
  const submit = async (values: { name: string; key: string }) => {
    await create.mutateAsync(values);
    onClose();
  };
  return (
    <DialogForm form={form} action={t.settings.environmentCreate} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t.settings.environmentName}
        placeholder="Canary"
        maxLength={255}
        data-autofocus
        {...form.getInputProps("name")}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <TextInput
        label={t.settings.environmentKey}
        description={t.settings.environmentKeyHint}
        maxLength={128}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("key")}
        onChange={(event) => onKey(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
