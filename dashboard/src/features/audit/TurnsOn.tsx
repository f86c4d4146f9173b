/** Says which flags a restore turns on in critical environments, and for how many users. */

import { Alert } from "@mantine/core";
import { useEnvironments } from "../../ui/useHere";
import { TurnedOnUsers } from "../flags/TurnedOnUsers";
import { turnOn } from "../flags/turnOnTexts";
import { turnedOnBy } from "./restoredOn";
import type { Alteration } from "./restoresCalls";

export function TurnsOn({ projectId, alterations }: { projectId: string; alterations: readonly Alteration[] }) {
  const turned = turnedOnBy(alterations, projectId, useEnvironments());
  if (turned === null) return null;
  return (
    <Alert role="note" color="alarm" variant="light" py="xs">
      {turnOn.turnsOn(turned.flags.length, turned.environment)}
      <TurnedOnUsers flags={turned.flags} />
    </Alert>
  );
}
