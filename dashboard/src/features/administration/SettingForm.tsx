/** A setting that an administrator chooses, or leaves to its environment variable. */

import { NativeSelect, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { type InstanceSettingsUpdate, useUpdateInstanceSettings } from "./administrationCalls";
import { notifyDone } from "../../api/notify";
import { common } from "../../ui/commonTexts";
import { administration as texts } from "./administrationTexts";
import { DialogForm } from "../../ui/DialogForm";

const DEFAULT = "default";

interface Setting<Value extends string> {
  readonly field: "registration" | "demands_second_factor";
  /** The environment variable that applies until an administrator chooses. */
  readonly variable: string;
  readonly value: Value;
  readonly isDefault: boolean;
  readonly title: string;
  readonly text: string;
  readonly choices: Readonly<Record<Value, string>>;
  /** A choice that cannot be made, for a reason that the text says. */
  readonly unavailable?: Value;
  /** Returns the body to send for a choice. */
  readonly send: (value: Value | null) => InstanceSettingsUpdate;
}

export function SettingForm<Value extends string>({ setting }: { setting: Setting<Value> }) {
  const { field, variable, value, isDefault, title, text, choices, unavailable, send } = setting;
  const { mutateAsync: update } = useUpdateInstanceSettings();
  const form = useForm<Record<string, string>>({ initialValues: { [field]: isDefault ? DEFAULT : value } });
  const save = async (values: Record<string, string>) => {
    const chosen = values[field];
    await update({ shown: send(value), body: send(chosen === DEFAULT ? null : (chosen as Value)) });
    notifyDone(texts.saved);
  };
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2}>{title}</Title>
      <Text c="dimmed">{text}</Text>
      <DialogForm form={form} action={common.save} onSubmit={save}>
        <NativeSelect
          label={title}
          description={isDefault ? texts.fromEnvironment(variable, choices[value]) : texts.fromAdministrator(variable)}
          data={[
            { value: DEFAULT, label: texts.asVariable(variable) },
            ...Object.entries<string>(choices).map(([each, label]) => ({
              value: each,
              label,
              disabled: each === unavailable,
            })),
          ]}
          {...form.getInputProps(field)}
        />
      </DialogForm>
    </Stack>
  );
}
