/** The call that releases the flag step by step, from a preset. The dashboard cannot make it, because it sets shares. */

import { Checkbox, MultiSelect, NativeSelect, SegmentedControl, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { metricsQuery } from "../metrics/metricsCalls";
import { askedOutlookQuery } from "./outlooksCalls";
import type { FlagPlace } from "../../api/flagPlace";
import {
  CALL_LANGUAGES,
  type CallLanguage,
  comparesVariants,
  type Preset,
  presetRelease,
  PRESETS,
  releaseCall,
  SPANS,
} from "./releaseCalls";
import { releases as texts } from "./releasesTexts";
import { Command } from "../../ui/Command";
import { NoMetrics } from "./NoMetrics";
import { OutlookList } from "./OutlookList";
import classes from "./StepByStep.module.css";
import { serverAddress } from "../../api/server";

type Props = Pick<FlagPlace, "path" | "flag">;

/** The number of metrics that are chosen at first. With more guards, each needs more evidence. */
const CHOSEN_AT_FIRST = 3;
const GUARDS_MAX = 10;

export default function StepByStep({ path, flag }: Props) {
  const { data: metrics } = useQuery(metricsQuery(path.project_id));
  const [preset, setPreset] = useState<Preset>("ramp");
  const [language, setLanguage] = useState<CallLanguage>("curl");
  const [span, setSpan] = useState<number>(3_600);
  const [chosen, setChosen] = useState<string[] | null>(null);
  const [serverKeysOnly, setServerKeysOnly] = useState(false);
  const watched = chosen ?? (metrics ?? []).slice(0, CHOSEN_AT_FIRST).map(({ key }) => key);
  const body = presetRelease(preset, flag, watched, span, serverKeysOnly);
  const { data: outlook } = useQuery(askedOutlookQuery(path, body));
  return (
    <Stack gap="sm">
      <div className={classes.fields}>
        <NativeSelect
          label={texts.preset}
          value={preset}
          data={PRESETS.map((value) => ({
            value,
            label: value === "experiment" && comparesVariants(flag) ? texts.variantsExperiment : texts.presets[value],
          }))}
          onChange={({ currentTarget: { value } }) => setPreset(PRESETS.find((each) => each === value) ?? "ramp")}
        />
        {preset !== "experiment" && (
          <NativeSelect
            label={texts.stepSpan}
            value={String(span)}
            data={SPANS.map((value) => ({ value: String(value), label: texts.spans[value] }))}
            onChange={({ currentTarget: { value } }) => setSpan(Number(value))}
          />
        )}
        <MultiSelect
          label={texts.watch}
          description={texts.watchHint}
          inputWrapperOrder={["label", "input", "description"]}
          maxValues={GUARDS_MAX}
          value={watched}
          data={(metrics ?? []).map(({ key, name }) => ({ value: key, label: name }))}
          onChange={setChosen}
        />
      </div>
      <Checkbox
        label={texts.serverKeysOnly}
        description={texts.serverKeysHint}
        checked={serverKeysOnly}
        onChange={({ currentTarget: { checked } }) => setServerKeysOnly(checked)}
      />
      {metrics?.length === 0 && <NoMetrics text={texts.noMetrics} projectId={path.project_id} />}
      {outlook && <OutlookList outlook={outlook} />}
      <Command
        label={texts.call(texts.languages[language])}
        text={texts.stepByStepText}
        needs="flags:write"
        language={language === "curl" ? "bash" : language}
        command={(token) => releaseCall(language, serverAddress(), path, body, token)}
      >
        <SegmentedControl
          size="xs"
          aria-label={texts.language}
          value={language}
          onChange={setLanguage}
          data={CALL_LANGUAGES.map((value) => ({ value, label: texts.languages[value] }))}
        />
      </Command>
    </Stack>
  );
}
