/** Starts an experiment over the variants of a flag: chosen, then reviewed. It sets weights, and never a rollout. */

import {
  Button,
  Checkbox,
  Input,
  MultiSelect,
  NativeSelect,
  NumberInput,
  SegmentedControl,
  Text,
  TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { metricsQuery } from "../metrics/metricsCalls";
import { askOutlook, type Outlook } from "./outlooksCalls";
import { Problem } from "../../api/problem";
import { useCreateRelease } from "./releasesCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { notifyDone } from "../../api/notify";
import { common } from "../../ui/commonTexts";
import { releases } from "./releasesTexts";
import { experiments as texts } from "./experimentsTexts";
import { variants as variantTexts } from "../flags/variants/variantsTexts";
import { DialogForm } from "../../ui/DialogForm";
import { NoMetrics } from "./NoMetrics";
import { useShares } from "../flags/variants/useShares";
import { Swatch, WeightBar } from "../../ui/WeightBar";
import classes from "./ExperimentForm.module.css";
import { ExperimentReview } from "./ExperimentReview";
import { draftOf, type ExperimentDraft, experimentOf } from "./experiments";

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly onClose: () => void };

const ACTIONS = ["notify", "pause", "turn_off"] as const;
const CHOSEN_AT_FIRST = 3;
const METRICS_MAX = 10;

export default function ExperimentForm({ path, flag, onClose }: Props) {
  const { data: metrics } = useQuery(metricsQuery(path.project_id));
  const [touched, setTouched] = useState(false);
  const [outlook, setOutlook] = useState<Outlook | null>(null);
  const form = useForm<ExperimentDraft>({ initialValues: draftOf(flag, []) });
  const create = useCreateRelease(path);
  const first = (metrics ?? []).slice(0, CHOSEN_AT_FIRST).map(({ key }) => key);
  const draft = touched ? form.values : { ...form.values, metrics: first };
  const setShare = useShares(draft.weights, (weights) => form.setFieldValue("weights", weights));
  const submit = async () => {
    const body = experimentOf(draft, flag);
    try {
      if (outlook === null) {
        setOutlook(await askOutlook(path, body));
        return;
      }
      await create.mutateAsync(body);
    } catch (error) {
      setOutlook(null);
      throw inForm(error);
    }
    notifyDone(texts.started);
    onClose();
  };
  if (outlook !== null) {
    return (
      <DialogForm form={form} action={texts.startNow} onSubmit={submit} onClose={onClose} needs="flags:write">
        <ExperimentReview flag={flag} draft={draft} metrics={metrics ?? []} outlook={outlook} />
        <div>
          <Button variant="default" size="xs" onClick={() => setOutlook(null)}>
            {texts.back}
          </Button>
        </div>
      </DialogForm>
    );
  }
  return (
    <DialogForm form={form} action={texts.review} onSubmit={submit} onClose={onClose} needs="flags:write">
      <Text size="sm" c="dimmed">
        {texts.intro}
      </Text>
      <NativeSelect
        label={texts.control}
        description={texts.controlHint}
        data-autofocus
        data={flag.variants.map(({ key }) => key)}
        {...form.getInputProps("control")}
      />
      <Input.Wrapper label={texts.weights} error={form.errors.weights} labelElement="div">
        <div className={classes.shares} role="group" aria-label={texts.weights}>
          {flag.variants.map(({ key }, place) => (
            <NumberInput
              key={key}
              aria-label={texts.shareOf(key)}
              label={key}
              leftSection={<Swatch place={place} />}
              min={0}
              max={100}
              step={1}
              decimalScale={1}
              suffix="%"
              clampBehavior="strict"
              data-path={place === 0 ? "weights" : undefined}
              value={(draft.weights[place] ?? 0) / 10}
              onChange={(value) => {
                form.clearFieldError("weights");
                setShare(place, Math.round(Number(value) * 10));
              }}
            />
          ))}
        </div>
        <WeightBar weights={draft.weights} />
      </Input.Wrapper>
      <Button
        variant="default"
        size="xs"
        className={classes.even}
        onClick={() => form.setFieldValue("weights", draftOf({ variants: evenly(flag.variants) }, []).weights)}
      >
        {variantTexts.splitEvenly}
      </Button>
      <MultiSelect
        label={texts.metrics}
        description={texts.metricsHint}
        maxValues={METRICS_MAX}
        data={(metrics ?? []).map(({ key, name }) => ({ value: key, label: name }))}
        data-path="metrics"
        value={[...draft.metrics]}
        error={form.errors.metrics}
        onChange={(chosen) => {
          setTouched(true);
          form.setFieldValue("metrics", chosen);
        }}
      />
      {metrics?.length === 0 && <NoMetrics text={texts.noMetrics} projectId={path.project_id} />}
      <Input.Wrapper label={texts.whenWorse} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={texts.whenWorse}
          data={ACTIONS.map((value) => ({ value, label: texts.actions[value] }))}
          {...form.getInputProps("action")}
        />
      </Input.Wrapper>
      <Checkbox
        label={releases.serverKeysOnly}
        description={releases.serverKeysHint}
        {...form.getInputProps("serverKeysOnly", { type: "checkbox" })}
      />
      <TextInput label={`${texts.name} (${common.optional})`} maxLength={255} {...form.getInputProps("name")} />
    </DialogForm>
  );
}

function evenly<Variant extends object>(variants: readonly Variant[]): (Variant & { weight: number })[] {
  return variants.map((each) => ({ ...each, weight: 1 }));
}

/** A refusal of the release, at the fields from which it comes. */
function inForm(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const fields = error.fields.map(({ field, message }) => ({ field: fieldOf(field), message }));
  return new Problem(error.status, error.message, fields, error.requestId, error.document);
}

function fieldOf(field: string): string {
  if (field.startsWith("guards")) return "metrics";
  return field.startsWith("steps.0.changes.variants") ? "weights" : field;
}
