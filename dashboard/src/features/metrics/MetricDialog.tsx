/** The dialog for creating or editing a metric. Its key and its kind cannot be changed later. */

import { Modal, NativeSelect, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { type Metric, useCreateMetric, useUpdateMetric } from "./metricsCalls";
import { notifyDone } from "../../api/notify";
import { proposeFlagKey } from "../../ui/proposeKey";
import type { DialogProps } from "../../ui/useDialog";
import { useDraft } from "../../ui/editing/useDraft";
import { useEditor } from "../../ui/editing/useEditor";
import { common } from "../../ui/commonTexts";
import { metrics as texts } from "./metricsTexts";
import { DialogForm } from "../../ui/DialogForm";
import { DescriptionField, NameAndKeyFields, NameField } from "../../ui/fields";

type Props = DialogProps & {
  readonly projectId: string;
  readonly metric?: Metric;
  /** The key of a new metric, if events have named it. */
  readonly named?: string;
};

interface Draft {
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly kind: Metric["kind"];
  readonly better: Metric["better"];
  readonly unit: string;
}

const NEW: Draft = { name: "", key: "", description: "", kind: "binary", better: "down", unit: "" };
const UNIT_LENGTH = 20;

export function MetricDialog(props: Props) {
  const { metric } = props;
  return (
    <Modal
      title={metric ? texts.edit(metric.name) : texts.new}
      size={560}
      yOffset="6vh"
      opened={props.opened}
      onClose={props.onClose}
    >
      {metric ? <MetricForm {...props} metric={metric} /> : <NewMetricForm {...props} />}
    </Modal>
  );
}

type FormProps = Pick<Props, "projectId" | "onClose" | "named">;

function NewMetricForm({ projectId, named, onClose }: FormProps) {
  const create = useCreateMetric(projectId);
  const draft = useDraft(draftOfMetric(projectId, named), named === undefined ? NEW : { ...NEW, key: named });
  const submit = async ({ key, kind, ...values }: Draft) => {
    const { name } = await create.mutateAsync({ key, kind, ...fieldsOf(values) });
    draft.end();
    notifyDone(texts.created(name));
    onClose();
  };
  const { form } = draft;
  return (
    <DialogForm form={form} action={texts.create} onSubmit={submit} onClose={onClose} editing={{ draft }}>
      {named === undefined ? (
        <NameAndKeyFields
          form={form}
          propose={proposeFlagKey}
          placeholder={texts.namePlaceholder}
          keyHint={texts.keyHint}
        />
      ) : (
        <>
          <NameField placeholder={texts.namePlaceholder} {...form.getInputProps("name")} />
          <TextInput label={common.key} readOnly className="mono" {...form.getInputProps("key")} />
        </>
      )}
      <NativeSelect
        label={texts.kind}
        description={texts.kindHint}
        data={(["binary", "count", "value"] as const).map((value) => ({ value, label: texts.kinds[value] }))}
        {...form.getInputProps("kind")}
      />
      <Text size="xs" c="dimmed">
        {texts.kindTexts[form.values.kind]}
      </Text>
      <Contents form={form} />
    </DialogForm>
  );
}

function MetricForm({ projectId, metric, onClose }: FormProps & { readonly metric: Metric }) {
  const update = useUpdateMetric(projectId, metric.id);
  const { form, submit, editing } = useEditor<Metric, Draft>({
    draft: draftOfMetric(projectId, metric.id),
    projectId,
    resourceId: metric.id,
    resource: metric,
    valuesOf: ({ name, key, description, kind, better, unit }) => ({
      name,
      key,
      description: description ?? "",
      kind,
      better,
      unit: unit ?? "",
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
      <NativeSelect
        label={texts.better}
        data={(["down", "up"] as const).map((value) => ({ value, label: texts.betters[value] }))}
        {...form.getInputProps("better")}
      />
      <TextInput
        label={`${texts.unit} (${common.optional})`}
        description={texts.unitHint}
        maxLength={UNIT_LENGTH}
        {...form.getInputProps("unit")}
      />
      <DescriptionField {...form.getInputProps("description")} />
    </>
  );
}

function fieldsOf({ name, description, better, unit }: Omit<Draft, "key" | "kind">) {
  return { name, better, description: description.trim() || null, unit: unit.trim() || null };
}

/** The key of the draft of a metric, by its id; or of a new one, by its key if events have named it. */
export function draftOfMetric(projectId: string, of = ""): string {
  return `metric ${projectId} ${of}`;
}
