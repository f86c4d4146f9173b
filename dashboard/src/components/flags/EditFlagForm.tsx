/** The form for editing the fields of a flag that have no place of their own on its page. */

import { TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Flag, FlagPath } from "../../api/client";
import { useUpdateFlag } from "../../api/flags";
import { described } from "../../lib/described";
import { t } from "../../texts";
import { DialogForm } from "../shared/DialogForm";
import { DescriptionField, NameField } from "../shared/fields";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly onClose: () => void;
}

export default function EditFlagForm({ path, flag, onClose }: Props) {
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
