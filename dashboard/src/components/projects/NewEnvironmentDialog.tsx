import { Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useCreateEnvironment } from "../../api/environments";
import { proposeEnvironmentKey } from "../../lib/proposeKey";
import type { DialogProps } from "../../lib/useDialog";
import { t } from "../../texts";
import { DialogForm } from "../shared/DialogForm";
import { NameAndKeyFields } from "../shared/fields";

type Props = DialogProps & { readonly projectId: string };

export function NewEnvironmentDialog(props: Props) {
  return (
    <Modal title={t.settings.environmentNew} opened={props.opened} onClose={props.onClose}>
      <NewEnvironment {...props} />
    </Modal>
  );
}

function NewEnvironment({ projectId, onClose }: Props) {
  const create = useCreateEnvironment(projectId);
  const form = useForm({ initialValues: { name: "", key: "" } });
  const submit = async (values: typeof form.values) => {
    await create.mutateAsync(values);
    onClose();
  };
  return (
    <DialogForm form={form} action={t.settings.environmentCreate} onSubmit={submit} onClose={onClose}>
      <NameAndKeyFields
        form={form}
        propose={proposeEnvironmentKey}
        placeholder={t.settings.environmentPlaceholder}
        keyHint={t.settings.environmentKeyHint}
      />
    </DialogForm>
  );
}
