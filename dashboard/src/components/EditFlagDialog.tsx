import { Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Flag, FlagPath } from "../api/client";
import { useUpdateFlag } from "../api/flags";
import { described } from "../lib/described";
import type { DialogProps } from "../lib/useDialog";
import { t } from "../texts";
import { DialogForm } from "./DialogForm";
import { DescriptionField, NameField } from "./fields";

type Props = DialogProps & { readonly path: FlagPath; readonly flag: Flag };

export function EditFlagDialog(props: Props) {
  return (
    <Modal title={t.flags.editHeading} opened={props.opened} onClose={props.onClose}>
      <EditFlag {...props} />
    </Modal>
  );
}

function EditFlag({ path, flag, onClose }: Props) {
  const update = useUpdateFlag(path);
  const form = useForm({ initialValues: { name: flag.name, description: flag.description ?? "" } });
  const submit = async (values: typeof form.values) => {
    await update.mutateAsync(described(values));
    onClose();
  };
  return (
    <DialogForm form={form} action={t.save} onSubmit={submit} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <DescriptionField {...form.getInputProps("description")} />
    </DialogForm>
  );
}
