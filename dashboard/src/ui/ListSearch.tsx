/** The search of a list that the server filters. The selection is in the URL. */

import { TextInput } from "@mantine/core";
import { useTyped } from "./useTyped";
import { IconSearch } from "./icons";

const TYPING_PAUSE_MILLISECONDS = 250; // each selection is a request

interface Props {
  readonly label: string;
  readonly selected: string;
  readonly onChange: (selected: string) => void;
}

export function ListSearch({ label, selected, onChange }: Props) {
  const { typed, type } = useTyped(selected, TYPING_PAUSE_MILLISECONDS, (text) => onChange(text.trim()));
  return (
    <TextInput
      mb="md"
      maw={320}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}
