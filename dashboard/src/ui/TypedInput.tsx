/** A field whose value is used after a pause in typing, so that an unfinished text or year sends no request. */

import { TextInput, type TextInputProps } from "@mantine/core";
import { useTyped } from "./useTyped";

interface Props extends Pick<
  TextInputProps,
  "label" | "type" | "size" | "miw" | "className" | "autoComplete" | "spellCheck"
> {
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

const TYPING_MILLISECONDS = 300;

export function TypedInput({ value, onChange, ...field }: Props) {
  const { typed, type } = useTyped(value ?? "", TYPING_MILLISECONDS, onChange);
  return <TextInput {...field} value={typed} onChange={(event) => type(event.currentTarget.value)} />;
}
