/** The number of users whose results change when flags are turned on. */

import { Alert, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Counted, turnedOnQuery } from "../../api/turnOnImpact";
import type { Alteration } from "../../api/restores";
import { impactInWords } from "../../lib/impact";
import { turnedOnBy } from "../../lib/changes/restoredOn";
import type { TurnedOn } from "../../lib/turnOnRequest";
import { useEnvironments } from "../../lib/hooks/useHere";
import { impact as texts } from "../../texts/impact";
import { turnOn } from "../../texts/turnOn";
import classes from "../flagLists/SelectionBar.module.css";
import { Given } from "../shared/Given";

export function TurnedOnUsers({ flags }: { flags: readonly TurnedOn[] }) {
  const { data } = useQuery(turnedOnQuery(useQueryClient(), flags));
  const [first, ...others] = data ?? [];
  const left = data ? flags.length - data.length : 0;
  return (
    <Text component="div" size="sm" c="dimmed" mt="xs" role="status">
      {!data && texts.asking}
      {first && others.length === 0 && inWords(first)}
      {data && others.length > 0 && (
        // Focusable, because scrollable content must be scrollable by keyboard.
        <ul className={classes.list} tabIndex={0} aria-label={turnOn.users}>
          {data.map((each) => (
            <li key={each.name} className="break">
              <Given text={each.name} />: {inWords(each)}
            </li>
          ))}
          {left > 0 && <li>{turnOn.moreNotCounted(left)}</li>}
        </ul>
      )}
    </Text>
  );
}

function inWords({ impact, reason }: Counted): string {
  if (impact !== null) return impactInWords(impact);
  return reason === null ? turnOn.newFlag : turnOn.notCounted(reason);
}

/** Says which flags a restore turns on in critical environments, and for how many users. */
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
