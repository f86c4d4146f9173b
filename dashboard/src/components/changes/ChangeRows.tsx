/** Changes in words, each with its values before and after. */

import { Checkbox } from "@mantine/core";
import type { ReactNode } from "react";
import type { Change } from "../../api/changes";
import { fieldChanges } from "../../lib/changes";
import { actorInWords, subjectOf, verbOf } from "../../lib/changeSentences";
import { restoreNeeds } from "../../lib/restorable";
import { inFull } from "../../lib/time";
import { changeSentences as sentences } from "../../texts/changeSentences";
import { restore as texts } from "../../texts/restore";
import { restoreSeveral as several } from "../../texts/restoreSeveral";
import { When } from "../shared/When";
import classes from "./ChangeRows.module.css";
import { ChangeComments } from "./ChangeComments";
import { ChangedFields } from "./ChangedFields";
import { ChartLink } from "./ChartLink";
import { RestoreButton } from "./RestoreButton";

export interface ChangeRowsProps {
  readonly items: readonly Change[];
  /** By the flags' ids. */
  readonly flagNames: ReadonlyMap<string, string>;
  /** The project in which the changes can be put back; without one, they cannot. */
  readonly projectId?: string;
  /** Whether times are exact, instead of as people say them. */
  readonly exact?: boolean;
  /** The name of what was changed, as a link. */
  readonly linked?: (change: Change, name: string) => ReactNode;
  /** The ids of changes that are chosen, and what chooses one; without it, none can be chosen. */
  readonly chosen?: ReadonlySet<string>;
  readonly onChoose?: ((id: string, wanted: boolean) => void) | undefined;
}

export function ChangeRows({ items, flagNames, projectId, exact = false, linked, chosen, onChoose }: ChangeRowsProps) {
  return (
    <ol className={classes.list}>
      {items.map((each) => {
        const who = actorInWords(each.actor);
        const subject = subjectOf(each, flagNames);
        return (
          <li key={each.id} className={classes.change}>
            <div className={classes.sentence}>
              {onChoose && restoreNeeds(each) !== null && (
                <Checkbox
                  size="xs"
                  mt={4}
                  aria-label={several.choose(`${who} ${verbOf(each)} ${subject}`)}
                  checked={chosen?.has(each.id) ?? false}
                  onChange={(event) => onChoose(each.id, event.currentTarget.checked)}
                />
              )}
              <span className={classes.words}>
                <span className={classes.who}>{who}</span>
                {each.actor.token && sentences.withToken(each.actor.token.name)} {verbOf(each)}{" "}
                <span className={classes.what}>{linked ? linked(each, subject) : subject}</span>
                {each.restores !== null && <span className={classes.restores}> ({texts.restores})</span>}
              </span>
              <span className={classes.when}>
                {projectId !== undefined && (
                  <RestoreButton
                    projectId={projectId}
                    change={each}
                    subject={subject}
                    words={`${who} ${verbOf(each)} ${subject}`}
                  />
                )}
                {projectId !== undefined && (
                  <ChartLink projectId={projectId} change={each} words={`${who} ${verbOf(each)} ${subject}`} />
                )}
                {projectId !== undefined && (
                  <ChangeComments projectId={projectId} change={each} words={`${who} ${verbOf(each)} ${subject}`} />
                )}
                {exact ? <time dateTime={each.at}>{inFull(each.at)}</time> : <When at={each.at} />}
              </span>
            </div>
            <ChangedFields fields={fieldChanges(each)} />
          </li>
        );
      })}
    </ol>
  );
}
