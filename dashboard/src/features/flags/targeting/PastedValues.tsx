/** A look at the values of a pasted list before they are taken. */

import { Button, Code, Group, Text } from "@mantine/core";
import { conditionsTexts } from "../../../ui/conditions/conditionsTexts";
import classes from "./PastedValues.module.css";

interface Props {
  readonly values: readonly string[];
  readonly onTake: () => void;
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

const SHOWN = 20;

export function PastedValues({ values, onTake, onKeep, onDiscard }: Props) {
  const more = values.length - SHOWN;
  return (
    <div className={classes.look} role="group" aria-label={conditionsTexts.pasted.heading(values.length)}>
      <Text size="xs" role="status">
        {conditionsTexts.pasted.heading(values.length)}
      </Text>
      <div className={classes.values}>
        {values.slice(0, SHOWN).map((value, place) => (
          // The values do not change, and may be equal.
          <Code key={place} className="break">
            {value}
          </Code>
        ))}
        {more > 0 && (
          <Text size="xs" c="dimmed">
            {conditionsTexts.moreValues(more)}
          </Text>
        )}
      </div>
      <Group gap="xs">
        <Button size="xs" onClick={onTake} autoFocus>
          {conditionsTexts.pasted.take(values.length)}
        </Button>
        <Button size="xs" variant="default" onClick={onKeep}>
          {conditionsTexts.pasted.keep}
        </Button>
        <Button size="xs" variant="subtle" onClick={onDiscard}>
          {conditionsTexts.pasted.discard}
        </Button>
      </Group>
    </div>
  );
}
