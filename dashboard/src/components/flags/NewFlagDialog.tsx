import { Checkbox, Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import type { EnvironmentPath } from "../../api/client";
import { useCreateFlag } from "../../api/flags";
import { described } from "../../lib/described";
import { proposeFlagKey } from "../../lib/proposeKey";
import type { DialogProps } from "../../lib/useDialog";
import { t } from "../../texts";
import { DialogForm } from "../shared/DialogForm";
import { DescriptionField, NameAndKeyFields } from "../shared/fields";

type Props = DialogProps & { readonly path: EnvironmentPath };

export function NewFlagDialog(props: Props) {
  return (
    <Modal title={t.flags.new} opened={props.opened} onClose={props.onClose}>
      <NewFlag {...props} />
    </Modal>
  );
}

function NewFlag({ path, onClose }: Props) {
  const navigate = useNavigate();
  const create = useCreateFlag(path);
  const form = useForm({ initialValues: { name: "", key: "", description: "", enabled: false } });
  const submit = async (values: typeof form.values) => {
    const flag = await create.mutateAsync({ ...described(values), rollout_percentage: 0 });
    onClose();
    await navigate({
      to: "/projects/$projectId/environments/$environmentId/flags/$flagId",
      params: { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id },
    });
  };
  return (
    <DialogForm form={form} action={t.flags.create} onSubmit={submit} onClose={onClose}>
      <NameAndKeyFields
        form={form}
        propose={proposeFlagKey}
        placeholder={t.flags.namePlaceholder}
        keyHint={t.flags.keyHint}
      />
      <DescriptionField {...form.getInputProps("description")} />
      <Checkbox label={t.flags.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
    </DialogForm>
  );
}
