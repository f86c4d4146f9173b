/** Says which attributes are used for a user's present results in each environment. */

import { Text } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { Evaluation } from "../history/historyCalls";
import { newestOf } from "./person";
import { inFull } from "../../ui/time";
import { people as texts } from "./peopleTexts";
import { Attributes } from "../history/Attributes";
import classes from "./People.module.css";
import { Given } from "../../ui/Given";

interface Props {
  readonly environments: readonly Environment[];
  readonly latest: readonly (Evaluation | null)[];
}

export function Basis({ environments, latest }: Props) {
  const newest = newestOf(latest);
  const elsewhere = environments[latest.indexOf(newest)];
  if (!newest || !elsewhere) {
    return (
      <Text size="sm" mb="sm">
        {texts.basis}: {texts.basisNone}.
      </Text>
    );
  }
  return (
    <ul className={classes.basis} aria-label={texts.basis}>
      {environments.map((environment, place) => {
        const own = latest[place];
        const used = own ?? newest;
        return (
          <li key={environment.id}>
            <strong>{environment.name}</strong>:{" "}
            {own ? texts.basisRecorded(inFull(own.evaluated_at)) : texts.basisElsewhere(elsewhere.name)}
            <div className={classes.kept}>
              {used.user_email !== null && (
                <small>
                  <Given text={used.user_email} />
                </small>
              )}
              {used.attributes && Object.keys(used.attributes).length > 0 ? (
                <Attributes of={used.attributes} />
              ) : (
                <small>{texts.noAttributes}</small>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
