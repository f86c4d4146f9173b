/** Pins the chart as it is shown to the project's home. */

import type { Flag } from "../../api/client";
import type { ChartView } from "./chartView";
import { useDialog } from "../../ui/useDialog";
import type { useHere } from "../../ui/useHere";
import { pins as texts } from "./chartsTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { lateDialog } from "../../ui/lateDialog";
import { ChartIcon } from "./chartIcons";

const PinDialog = lateDialog(() => import("./PinDialogs").then((module) => module.PinDialog));

interface Props {
  readonly here: ReturnType<typeof useHere>;
  readonly view: ChartView;
  readonly flagKey: string;
  readonly flag: Flag | undefined;
}

export function PinButton({ here, view, flagKey, flag }: Props) {
  const { open, props } = useDialog();
  const unknown = flagKey !== "" && !flag ? texts.needsFlag : null;
  return (
    <>
      <GuardedButton
        variant="default"
        size="xs"
        label={texts.pinLabel}
        leftSection={<ChartIcon name="pin" size={14} />}
        needs="flags:write"
        refusal={view.span !== null ? texts.needsPeriod : unknown}
        onClick={open}
      >
        {texts.pin}
      </GuardedButton>
      <PinDialog here={here} view={view} flag={flagKey === "" ? undefined : flag} {...props} />
    </>
  );
}
