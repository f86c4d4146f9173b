/** Says that a form has the values of an unsaved draft, which can be discarded. */

import { Alert, Button, Group } from "@mantine/core";
import { timeOfDay } from "./time";
import { draft as texts } from "./editing/draftTexts";
import { useNow } from "./When";

interface Props {
  readonly at: number;
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

export default function DraftNotice({ at, onKeep, onDiscard }: Props) {
  const now = useNow();
  return (
    <Alert role="status" color="signal" variant="light" py="xs">
      <Group justify="space-between" gap="xs">
        <span>{texts.found(timeOfDay(at, now))}</span>
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={onKeep}>
            {texts.keep}
          </Button>
          <Button variant="default" size="compact-sm" onClick={onDiscard}>
            {texts.discard}
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
