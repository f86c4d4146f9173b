import { Checkbox, Modal, Select } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useCreateEnvironment } from "../../api/environments";
import { proposeEnvironmentKey } from "../../ui/proposeKey";
import type { DialogProps } from "../../ui/useDialog";
import { useEnvironments } from "../../ui/useHere";
import { settings } from "./projectsTexts";
import { DialogForm } from "../../ui/DialogForm";
import { NameAndKeyFields } from "../../ui/fields";

const texts = {
  copyFrom: "Copy flags and rules from (optional)",
  noFlags: "No flags",
  allOff: "Turn all of them off",
};

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
