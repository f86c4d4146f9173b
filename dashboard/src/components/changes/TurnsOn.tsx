/** Says which flags a restore turns on in critical environments, and for how many users. */

import { Alert } from "@mantine/core";
import type { Alteration } from "../../api/restores";
import { turnedOnBy } from "../../lib/turnedOn";
import { useEnvironments } from "../../lib/useHere";
import { turnOn } from "../../texts/turnOn";
import { TurnedOnUsers } from "../flags/TurnedOnUsers";

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
