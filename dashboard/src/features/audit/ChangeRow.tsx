/** One change in words, with its values before and after. */

import { Checkbox } from "@mantine/core";
import type { ReactNode } from "react";
import type { Change } from "../../api/changes";
import { fieldChanges } from "../../ui/changes/changes";
import { actorInWords, subjectOf, verbOf } from "./changeSentences";
import { restoreNeeds } from "./restorable";
import { changeSentences as sentences } from "./changeSentencesTexts";
import { restore as texts } from "./restoreTexts";
import { restoreSeveral as several } from "./restoreSeveralTexts";
import { ChangeComments } from "./ChangeComments";
import classes from "../../ui/changes/ChangeRows.module.css";
import { ChangedFields } from "../../ui/changes/ChangedFields";
import { ChartLink } from "./ChartLink";
import { ChangeTime } from "./ChangeTime";
import { RestoreButton } from "./RestoreButton";
import { Given } from "../../ui/Given";

export interface ChangeRowProps {
  readonly change: Change;
  /** By the flags' ids. */
  readonly flagNames: ReadonlyMap<string, string>;
  /** The project in which the changes can be put back; without one, they cannot. */
  readonly projectId?: string;
  /** Whether times are exact instead of relative. */
  readonly exact?: boolean;
  /** The name of what was changed, as a link. */
  readonly linked?: (change: Change, name: string) => ReactNode;
  /** The ids of changes that are chosen, and what chooses one; without it, none can be chosen. */
  readonly chosen?: ReadonlySet<string>;
  readonly onChoose?: ((id: string, wanted: boolean) => void) | undefined;
}

export function ChangeRow({ change, flagNames, projectId, exact, linked, chosen, onChoose }: ChangeRowProps) {
  const who = actorInWords(change.actor);
  const subject = subjectOf(change, flagNames);
  const words = `${who} ${verbOf(change)} ${subject}`;
  return (
    <li className={classes.change}>
      <div className={classes.sentence}>
        {onChoose && restoreNeeds(change) !== null && (
          <Checkbox
            size="xs"
            mt={4}
            aria-label={several.choose(words)}
            checked={chosen?.has(change.id) ?? false}
            onChange={(event) => onChoose(change.id, event.currentTarget.checked)}
          />
        )}
        <span className={classes.words}>
          <span className={classes.who}>
            <Given text={who} />
          </span>
          {change.actor.token && sentences.withToken(change.actor.token.name)} {verbOf(change)}{" "}
          <span className={classes.what}>{linked ? linked(change, subject) : <Given text={subject} />}</span>
          {change.restores !== null && <span className={classes.restores}> ({texts.restores})</span>}
        </span>
        <span className={classes.when}>
          {projectId !== undefined && (
            <>
              <RestoreButton projectId={projectId} change={change} subject={subject} words={words} />
              <ChartLink projectId={projectId} change={change} words={words} />
              <ChangeComments projectId={projectId} change={change} words={words} />
            </>
          )}
          <ChangeTime at={change.at} exact={exact} />
        </span>
      </div>
      <ChangedFields fields={fieldChanges(change)} />
    </li>
  );
}
