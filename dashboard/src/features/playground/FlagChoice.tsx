/** The flags to show, by key. The server finds them, because a project can have thousands. */

import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { foundKeysQuery } from "../flags/projectFlagsCalls";
import { FLAGS_MAX } from "./grid";
import { playground as texts } from "./playgroundTexts";

const DELAY_MILLISECONDS = 150;

interface Props {
  readonly projectId: string;
  readonly chosen: readonly string[];
  readonly onChoose: (keys: readonly string[]) => void;
}

export function FlagChoice({ projectId, chosen, onChoose }: Props) {
  const [typed, setTyped] = useState("");
  const [opened, setOpened] = useState(false);
  const [q] = useDebouncedValue(typed, DELAY_MILLISECONDS);
  const { data: found } = useQuery({ ...foundKeysQuery(projectId, q), enabled: opened });
  return (
    <MultiSelect
      label={texts.flags}
      description={texts.flagsHint(FLAGS_MAX)}
      placeholder={chosen.length === 0 ? texts.flagsNone : undefined}
      data={found ?? []}
      value={[...chosen]}
      maxValues={FLAGS_MAX}
      searchable
      clearable
      filter={({ options }) => options}
      nothingFoundMessage={found && texts.noMatch}
      classNames={{ pillsList: "break" }}
      styles={{ pillsList: { maxHeight: "9rem", overflowY: "auto" } }}
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      onChange={onChoose}
    />
  );
}
