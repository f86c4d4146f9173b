/** The form for editing the fields of a flag that cannot be edited elsewhere on its page. */

import { Autocomplete, Checkbox, TagsInput, TextInput } from "@mantine/core";
import type { Flag, FlagPath, NewFlag } from "../../api/client";
import { useUpdateFlag } from "../flags/flagsCalls";
import { useQuery } from "@tanstack/react-query";
import { membersQuery } from "../../api/members";
import { described } from "../../ui/described";
import { draftOfFlag } from "../../api/flagPlace";
import { useEditor } from "../../ui/editing/useEditor";
import { flagsTexts } from "../flags/flagsTexts";
import { common } from "../../ui/commonTexts";
import { ownership } from "./ownershipTexts";
import { DialogForm } from "../../ui/DialogForm";
import { DescriptionField, NameField } from "../../ui/fields";

/** What can be edited, but for what has controls of its own. A field that the form lacks does not compile. */
type Details = Required<
  Omit<NewFlag, "key" | "enabled" | "rollout_percentage" | "fallthrough" | "variants" | "prerequisites">
>;

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly onClose: () => void;
}

export default function EditFlagForm({ path, flag, onClose }: Props) {
  const update = useUpdateFlag(path);
  const { data: members } = useQuery(membersQuery(path.project_id));
  const { form, submit, editing } = useEditor({
    draft: draftOfFlag(flag, "details"),
    projectId: flag.project_id,
    resourceId: flag.id,
    resource: flag,
    valuesOf: draftOf,
    fieldsOf: (values): Details => ({
      ...described(values),
      bucketing_key: values.bucketing_key || null,
      owner: values.owner.trim() || null,
    }),
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose} editing={editing}>
      <NameField {...form.getInputProps("name")} />
      <DescriptionField {...form.getInputProps("description")} />
      <TagsInput
        label={`${flagsTexts.tags} (${common.optional})`}
        description={flagsTexts.tagsHint}
        maxTags={20}
        splitChars={[","]}
        acceptValueOnBlur
        {...form.getInputProps("tags")}
      />
      <Autocomplete
        label={`${ownership.owner} (${common.optional})`}
        description={ownership.ownerHint}
        data={members?.map((each) => each.email) ?? []}
        limit={8}
        maxLength={255}
        {...form.getInputProps("owner")}
      />
      <Checkbox
        label={ownership.keep}
        description={ownership.keepHint}
        {...form.getInputProps("keep", { type: "checkbox" })}
      />
      <TextInput
        label={flagsTexts.stickiness}
        description={flagsTexts.stickinessHint}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("stickiness")}
      />
      <TextInput
        label={`${flagsTexts.bucketingKey} (${common.optional})`}
        description={flagsTexts.bucketingKeyHint}
        placeholder={flag.key}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("bucketing_key")}
      />
    </DialogForm>
  );
}

function draftOf({ name, description, tags, owner, keep, stickiness, bucketing_key: key }: Flag) {
  return {
    name,
    description: description ?? "",
    tags,
    owner: owner ?? "",
    keep,
    stickiness,
    bucketing_key: key ?? "",
  };
}
