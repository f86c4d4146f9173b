/** Navigates the parts of a long list. */

import { Group, Text } from "@mantine/core";
import { playground as texts } from "./playgroundTexts";
import { IconButton } from "../../ui/IconButton";

interface Props {
  readonly name: string;
  readonly first: number;
  readonly size: number;
  readonly all: number;
  readonly onTurn: (first: number) => void;
}

export function Parts({ name, first, size, all, onTurn }: Props) {
  if (all <= size) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="sm" className="numbers" role="status">
        {texts.part(name, first + 1, Math.min(first + size, all), all)}
      </Text>
      <IconButton hint={texts.previous(name)} idle={first === 0} onClick={() => onTurn(Math.max(0, first - size))}>
        ←
      </IconButton>
      <IconButton hint={texts.next(name)} idle={first + size >= all} onClick={() => onTurn(first + size)}>
        →
      </IconButton>
    </Group>
  );
}
