/** The number of users whose results change when flags are turned on. */

import { Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type Counted, turnedOnQuery } from "./turnOnImpactCalls";
import { impactInWords } from "../explanations/impact";
import type { TurnedOn } from "./turnOnRequest";
import { impact as texts } from "../explanations/impactTexts";
import { turnOn } from "./turnOnTexts";
import classes from "../../ui/SelectionBar.module.css";
import { Given } from "../../ui/Given";

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
