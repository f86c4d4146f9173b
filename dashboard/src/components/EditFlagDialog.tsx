import { Modal, TagsInput, TextInput } from "@mantine/core";
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
  const form = useForm({ initialValues: draftOf(flag) });
  const submit = async (values: typeof form.values) => {
    await update.mutateAsync({ ...described(values), bucketing_key: values.bucketing_key || null });
    onClose();
  };
  return (
    <DialogForm form={form} action={t.save} onSubmit={submit} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <DescriptionField {...form.getInputProps("description")} />
      <TagsInput
        label={`${t.flags.tags} (${t.optional})`}
        description={t.flags.tagsHint}
        maxTags={20}
        splitChars={[","]}
        acceptValueOnBlur
        {...form.getInputProps("tags")}
      />
      <TextInput
        label={t.flags.stickiness}
        description={t.flags.stickinessHint}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("stickiness")}
      />
      <TextInput
        label={`${t.flags.bucketingKey} (${t.optional})`}
        description={t.flags.bucketingKeyHint}
        placeholder={flag.key}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("bucketing_key")}
      />
    </DialogForm>
  );
}

function draftOf({ name, description, tags, stickiness, bucketing_key: key }: Flag) {
  return { name, description: description ?? "", tags, stickiness, bucketing_key: key ?? "" };
}
