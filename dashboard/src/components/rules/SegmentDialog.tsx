/** The dialog for creating or editing a segment. */

import { Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Segment } from "../../api/client";
import { useCreateSegment, useUpdateSegment } from "../../api/segments";
import { type ConditionDraft, conditionOf, draftOf, NEW_CONDITION } from "../../lib/conditionDrafts";
import { described } from "../../lib/described";
import { proposeFlagKey } from "../../lib/proposeKey";
import type { DialogProps } from "../../lib/useDialog";
import { t } from "../../texts";
import { segments as texts } from "../../texts/segments";
import { ConditionFields } from "./ConditionFields";
import { DialogForm } from "../shared/DialogForm";
import { DescriptionField, NameAndKeyFields, NameField } from "../shared/fields";

type Props = DialogProps & { readonly projectId: string; readonly segment?: Segment };

interface Draft {
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly conditions: ConditionDraft[];
}

const NEW: Draft = { name: "", key: "", description: "", conditions: [NEW_CONDITION] };

export function SegmentDialog(props: Props) {
  const title = props.segment ? texts.editHeading : texts.new;
  return (
    <Modal title={title} size={600} yOffset="6vh" opened={props.opened} onClose={props.onClose}>
      <SegmentForm {...props} />
    </Modal>
  );
}

function SegmentForm({ projectId, segment, onClose }: Props) {
  const create = useCreateSegment(projectId);
  const update = useUpdateSegment(projectId, segment?.id ?? "");
  const form = useForm<Draft>({ initialValues: segment ? draftOfSegment(segment) : NEW });
  const submit = async ({ key, ...values }: Draft) => {
    const body = { ...described(values), conditions: values.conditions.map(conditionOf) };
    await (segment ? update.mutateAsync(body) : create.mutateAsync({ key, ...body }));
    onClose();
  };
  return (
    <DialogForm form={form} action={segment ? t.save : texts.create} onSubmit={submit} onClose={onClose}>
      {segment ? (
        <NameField {...form.getInputProps("name")} />
      ) : (
        <NameAndKeyFields
          form={form}
          propose={proposeFlagKey}
          placeholder={texts.namePlaceholder}
          keyHint={t.flags.keyHint}
        />
      )}
      <DescriptionField {...form.getInputProps("description")} />
      <ConditionFields
        conditions={form.values.conditions}
        errors={form.errors}
        onChange={(conditions) => {
          form.setErrors({});
          form.setFieldValue("conditions", conditions);
        }}
      />
    </DialogForm>
  );
}

function draftOfSegment({ name, key, description, conditions }: Segment): Draft {
  return { name, key, description: description ?? "", conditions: conditions.map(draftOf) };
}
