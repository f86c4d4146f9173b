/** Schedules one change for a moment: the flag, or one of its rules, is turned on or off. Never a share of users. */

import { NativeSelect, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { FlagPath, Rule } from "../../api/client";
import { Problem } from "../../api/problem";
import { useCreateRelease } from "./releasesCalls";
import { ruleInWords } from "../../ui/conditions/audience";
import { notifyDone } from "../../api/notify";
import { comesTwice, nextHour, readMoment, type ScheduleDraft, scheduleOf, zoneAt } from "./schedules";
import { inUtc } from "../../ui/time";
import { common } from "../../ui/commonTexts";
import { releases as texts } from "./releasesTexts";
import { DialogForm } from "../../ui/DialogForm";

interface Props {
  readonly path: FlagPath;
  readonly enabled: boolean;
  readonly rules: readonly Rule[];
  readonly onClose: () => void;
}

export default function ScheduleForm({ path, enabled, rules, onClose }: Props) {
  const [initial] = useState<ScheduleDraft>(() => ({
    rule: "",
    to: enabled ? "off" : "on",
    at: nextHour(Date.now()),
    name: "",
    whenLate: "run",
  }));
  const form = useForm<ScheduleDraft>({ initialValues: initial });
  const create = useCreateRelease(path);
  const at = readMoment(form.values.at);
  const submit = async (draft: ScheduleDraft) => {
    const moment = readMoment(draft.at);
    if (!(moment instanceof Date)) throw new Problem(400, "", [{ field: "at", message: texts.noMoment[moment] }]);
    try {
      await create.mutateAsync(scheduleOf(draft, moment));
    } catch (error) {
      throw inForm(error);
    }
    notifyDone(texts.scheduled);
    onClose();
  };
  return (
    <DialogForm
      form={form}
      action={texts.create}
      onSubmit={submit}
      onClose={onClose}
      needs={form.values.rule === "" ? "flags:write" : "rules:write"}
    >
      <Text size="sm" c="dimmed">
        {texts.scheduleText}
      </Text>
      <NativeSelect
        label={texts.what}
        data-autofocus
        data={[
          { value: "", label: texts.theFlag },
          ...rules.map((rule) => ({ value: rule.id, label: texts.theRule(ruleInWords(rule)) })),
        ]}
        {...form.getInputProps("rule")}
      />
      <SegmentedControl
        aria-label={texts.to}
        data={[
          { value: "on", label: texts.turnOn },
          { value: "off", label: texts.turnOff },
        ]}
        {...form.getInputProps("to")}
      />
      <TextInput
        type="datetime-local"
        label={texts.when}
        description={at instanceof Date ? texts.whenHint(zoneAt(at)) : null}
        {...form.getInputProps("at")}
      />
      <Stack gap={0} role="status">
        {at instanceof Date && <Text size="sm">{texts.utc(inUtc(at))}</Text>}
        {at === "missing" && <Text size="sm">{texts.noMoment.missing}</Text>}
        {at instanceof Date && comesTwice(at) && <Text size="sm">{texts.twice}</Text>}
      </Stack>
      <TextInput label={`${texts.scheduleName} (${common.optional})`} maxLength={255} {...form.getInputProps("name")} />
      <NativeSelect
        label={texts.whenLate}
        data={[
          { value: "run", label: texts.run },
          { value: "skip", label: texts.skip },
        ]}
        {...form.getInputProps("whenLate")}
      />
    </DialogForm>
  );
}

/** A refusal of the only step, whose moment has a field here. */
function inForm(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const fields = error.fields.map((each) => ({ ...each, field: each.field.replace(/^steps\.0\./, "") }));
  return new Problem(error.status, error.message, fields, error.requestId, error.document);
}
