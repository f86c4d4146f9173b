import { Checkbox, Modal, Select } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useCreateEnvironment } from "../../api/environments";
import { proposeEnvironmentKey } from "../../lib/proposeKey";
import type { DialogProps } from "../../lib/hooks/useDialog";
import { useEnvironments } from "../../lib/hooks/useHere";
import { settings } from "../../texts/projects";
import { creation as texts } from "../../texts/compare";
import { DialogForm } from "../shared/DialogForm";
import { NameAndKeyFields } from "../shared/fields";

type Props = DialogProps & { readonly projectId: string };

export function NewEnvironmentDialog(props: Props) {
  return (
    <Modal title={settings.environmentNew} opened={props.opened} onClose={props.onClose}>
      <NewEnvironment {...props} />
    </Modal>
  );
}

function NewEnvironment({ projectId, onClose }: Props) {
  const create = useCreateEnvironment(projectId);
  const environments = useEnvironments();
  const form = useForm({ initialValues: { name: "", key: "", copy_from: null as string | null, all_off: false } });
  const { copy_from: origin } = form.values;
  const submit = async (values: typeof form.values) => {
    await create.mutateAsync({ ...values, all_off: values.all_off && values.copy_from !== null });
    onClose();
  };
  return (
    <DialogForm form={form} action={settings.environmentCreate} onSubmit={submit} onClose={onClose}>
      <NameAndKeyFields
        form={form}
        propose={proposeEnvironmentKey}
        placeholder={settings.environmentPlaceholder}
        keyHint={settings.environmentKeyHint}
      />
      {environments.length > 0 && (
        <Select
          label={texts.copyFrom}
          placeholder={texts.noFlags}
          data={environments.map((each) => ({ value: each.id, label: each.name }))}
          clearable
          {...form.getInputProps("copy_from")}
        />
      )}
      {origin !== null && <Checkbox label={texts.allOff} {...form.getInputProps("all_off", { type: "checkbox" })} />}
    </DialogForm>
  );
}
