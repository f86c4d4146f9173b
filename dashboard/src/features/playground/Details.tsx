/** The explanation of one result, with links to the flag and to the user. */

import { answerOf, type Column, type Grid, reasonOf } from "./grid";
import { nameOf } from "./playgroundUsers";
import { playground as texts } from "./playgroundTexts";
import { Answer } from "../../ui/Answer";
import { AnchorLink } from "../../ui/links";
import classes from "./Playground.module.css";

export interface Place {
  readonly column: Column;
  readonly side: number;
  readonly user: number;
}

interface Props {
  readonly projectId: string;
  readonly grid: Grid;
  readonly place: Place | null;
}

export function Details({ projectId, grid, place }: Props) {
  return (
    <section className={classes.details} aria-label={texts.details}>
      {place ? <Chosen projectId={projectId} grid={grid} {...place} /> : <p>{texts.chooseOne}</p>}
    </section>
  );
}

function Chosen({ projectId, grid, column, side, user: at }: Omit<Props, "place"> & Place) {
  const user = grid.users[at];
  const environment = grid.environments[side];
  const answer = answerOf(column, side, at);
  const flagId = column.of[side]?.flag_id;
  if (!user || !environment) return null;
  return (
    <>
      <p>
        <code>{column.key}</code> · {environment.name} · {texts.ofUser(nameOf(user))}
      </p>
      <p className={classes.result}>
        {answer && <Answer on={answer.enabled} />}
        {answer?.variant != null && <span>{texts.variant(answer.variant)}</span>}
        <span>{answer ? reasonOf(answer) : texts.missing}</span>
      </p>
      <p className={classes.links}>
        {flagId !== undefined && (
          <AnchorLink
            to="/projects/$projectId/environments/$environmentId/flags/$flagId"
            params={{ projectId, environmentId: environment.id, flagId }}
          >
            {texts.openFlag}
          </AnchorLink>
        )}
        {(user.id !== null || user.email !== null) && (
          <AnchorLink
            to="/projects/$projectId/user"
            params={{ projectId }}
            search={{
              ...(user.id !== null && { id: user.id }),
              ...(user.email !== null && { email: user.email }),
              environment: environment.key,
              flag: column.key,
            }}
          >
            {texts.allOfUser}
          </AnchorLink>
        )}
      </p>
    </>
  );
}
