/** The dialogs that pin a chart, rename it and remove it. */

import { Modal, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Flag } from "../../api/client";
import { type PinnedChart, usePinChart, useRenamePinned, useUnpinChart } from "../views/pinnedChartsCalls";
import type { ChartView } from "./chartView";
import { notifyDone } from "../../api/notify";
import type { DialogProps } from "../../ui/useDialog";
import type { useHere } from "../../ui/useHere";
import { common } from "../../ui/commonTexts";
import { pins as texts } from "./chartsTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { DialogForm } from "../../ui/DialogForm";
import { NameField } from "../../ui/fields";

interface PinProps extends DialogProps {
  readonly here: ReturnType<typeof useHere>;
  readonly view: ChartView;
  /** Without one, the chart of all flags. */
  readonly flag: Flag | undefined;
}

export function PinDialog(props: PinProps) {
  return (
    <Modal title={texts.pinHeading} opened={props.opened} onClose={props.onClose}>
      <PinForm {...props} />
    </Modal>
  );
}

function PinForm({ here: { project, environment }, view, flag, onClose }: PinProps) {
  const { mutateAsync: pin } = usePinChart(project.id);
  const form = useForm({ initialValues: { name: texts.proposed(flag?.name ?? texts.all, environment.name) } });
  const submit = async ({ name }: typeof form.values) => {
    const { period, split, scale, before, other } = view;
    const chart = await pin({
      name,
      environment_id: environment.id,
      flag_id: flag?.id ?? null,
      period,
      split,
      scale,
      compare_before: before,
      compare_environment_id: other?.id ?? null,
    });
    onClose();
    notifyDone(texts.pinned(chart.name));
  };
  return (
    <DialogForm form={form} action={texts.pinAction} onSubmit={submit} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <Text size="sm" c="dimmed">
        {texts.pinHint}
      </Text>
    </DialogForm>
  );
}

interface PinnedProps extends DialogProps {
  readonly chart: PinnedChart;
}

export function RenamePinnedDialog(props: PinnedProps) {
  return (
    <Modal title={texts.renameHeading} opened={props.opened} onClose={props.onClose}>
      <RenameForm {...props} />
    </Modal>
  );
}

function RenameForm({ chart, onClose }: PinnedProps) {
  const { mutateAsync: rename } = useRenamePinned(chart.project_id);
  const form = useForm({ initialValues: { name: chart.name } });
  const submit = async ({ name }: typeof form.values) => {
    await rename({ chart, name });
    onClose();
  };
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
    </DialogForm>
  );
}

export function RemovePinnedDialog({ chart, ...rest }: PinnedProps) {
  const { mutateAsync: remove } = useUnpinChart(chart.project_id);
  return (
    <ConfirmDialog
      title={texts.removeHeading(chart.name)}
      consequence={texts.removeConsequence}
      action={texts.remove}
      of={{ projectId: chart.project_id, id: chart.id, resource: chart }}
      onConfirm={() => remove(chart)}
      {...rest}
    />
  );
}
