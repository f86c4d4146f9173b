import { Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Flag, FlagPath } from "../api/client";
import { useUpdateFlag } from "../api/flags";
import { t } from "../texts";
import { DialogForm, FormDialog } from "./FormDialog";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function EditFlagDialog(props: Props) {
  return (
    <FormDialog title={t.flags.editHeading} opened={props.opened} onClose={props.onClose}>
      <EditFlag {...props} />
    </FormDialog>
  );
}

function EditFlag({ path, flag, onClose }: Props) {
  const update = useUpdateFlag(path);
  const form = useForm({ initialValues: { name: flag.name, description: flag.description ?? "" } });
  const submit = async ({ name, description }: { name: string; description: string }) => {
    await update.mutateAsync({ name, description: description.trim() || null });
    onClose();
  };
  return (
    <DialogForm form={form} action={t.save} onSubmit={submit} onClose={onClose}>
      <TextInput label={t.flags.name} maxLength={255} data-autofocus {...form.getInputProps("name")} />
      <Textarea
        label={`${t.flags.description} (${t.optional})`}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
    </DialogForm>
  );
}
