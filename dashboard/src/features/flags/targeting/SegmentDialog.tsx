/** The dialog for creating or editing a segment. */

import { Modal } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Segment } from "../../../api/client";
import { useCreateSegment, useUpdateSegment } from "../segmentsCalls";
import { type ConditionDraft, conditionOf, draftOf, NEW_CONDITION } from "../../../ui/conditions/conditionDrafts";
import { described } from "../../../ui/described";
import { proposeFlagKey } from "../../../ui/proposeKey";
import type { DialogProps } from "../../../ui/useDialog";
import { useDraft } from "../../../ui/editing/useDraft";
import { useEditor } from "../../../ui/editing/useEditor";
import { flagsTexts } from "../flagsTexts";
import { common } from "../../../ui/commonTexts";
import { segments as texts } from "./segmentsTexts";
import { ConditionFields } from "./ConditionFields";
import { DialogForm } from "../../../ui/DialogForm";
import { DescriptionField, NameAndKeyFields, NameField } from "../../../ui/fields";

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
      {props.segment ? <SegmentForm {...props} segment={props.segment} /> : <NewSegmentForm {...props} />}
    </Modal>
  );
}

type FormProps = Pick<Props, "projectId" | "onClose">;

function NewSegmentForm({ projectId, onClose }: FormProps) {
  const create = useCreateSegment(projectId);
  const draft = useDraft(draftOfSegment(projectId), NEW);
  const submit = async ({ key, ...values }: Draft) => {
    await create.mutateAsync({ key, ...fieldsOf(values) });
    draft.end();
    onClose();
  };
  return (
    <DialogForm form={draft.form} action={texts.create} onSubmit={submit} onClose={onClose} editing={{ draft }}>
      <NameAndKeyFields
        form={draft.form}
        propose={proposeFlagKey}
        placeholder={texts.namePlaceholder}
        keyHint={flagsTexts.keyHint}
      />
      <Contents form={draft.form} />
    </DialogForm>
  );
}

function SegmentForm({ projectId, segment, onClose }: FormProps & { readonly segment: Segment }) {
  const update = useUpdateSegment(projectId, segment.id);
  const { form, submit, editing } = useEditor<Segment, Draft>({
    draft: draftOfSegment(projectId, segment),
    projectId,
    resourceId: segment.id,
    resource: segment,
    valuesOf: ({ name, key, description, conditions }) => ({
      name,
      key,
      description: description ?? "",
      conditions: conditions.map(draftOf),
    }),
    fieldsOf,
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose} editing={editing}>
      <NameField {...form.getInputProps("name")} />
      <Contents form={form} />
    </DialogForm>
  );
}

function Contents({ form }: { form: UseFormReturnType<Draft> }) {
  return (
    <>
      <DescriptionField {...form.getInputProps("description")} />
      <ConditionFields
        conditions={form.values.conditions}
        errors={form.errors}
        onChange={(conditions) => {
          form.setErrors({});
          form.setFieldValue("conditions", conditions);
        }}
      />
    </>
  );
}

function fieldsOf({ name, description, conditions }: Omit<Draft, "key">) {
  return described({ name, description, conditions: conditions.map(conditionOf) });
}

/** The key of the draft of a segment, or of a new one. */
export function draftOfSegment(projectId: string, segment?: Segment): string {
  return `segment ${segment?.id ?? `of ${projectId}`}`;
}
