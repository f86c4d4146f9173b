/** Fields that several forms share. */

import { Textarea, type TextareaProps, TextInput, type TextInputProps } from "@mantine/core";
import { useProposedKey, type NamedForm } from "./useProposedKey";
import { common } from "./commonTexts";

export function NameField(props: TextInputProps) {
  return <TextInput label={common.name} maxLength={255} data-autofocus {...props} />;
}

export function DescriptionField(props: TextareaProps) {
  return (
    <Textarea
      dir="auto"
      label={`${common.description} (${common.optional})`}
      autosize
      minRows={2}
      maxRows={8}
      maxLength={10_000}
      {...props}
    />
  );
}

interface NameAndKeyProps {
  readonly form: NamedForm;
  readonly propose: (name: string) => string;
  readonly placeholder: string;
  readonly keyHint: string;
}

/** A name, and a key proposed from it. */
export function NameAndKeyFields({ form, propose, placeholder, keyHint }: NameAndKeyProps) {
  const { onName, onKey } = useProposedKey(form, propose);
  return (
    <>
      <NameField
        placeholder={placeholder}
        {...form.getInputProps("name")}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <TextInput
        label={common.key}
        description={keyHint}
        maxLength={128}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("key")}
        onChange={(event) => onKey(event.currentTarget.value)}
      />
    </>
  );
}
