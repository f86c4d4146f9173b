/** Changes in words, each with its values before and after. */

import type { ReactNode } from "react";
import type { Change } from "../../api/changes";
import { fieldChanges } from "../../lib/changes";
import { actorInWords, subjectOf, verbOf } from "../../lib/changeSentences";
import { inFull } from "../../lib/time";
import { changeSentences as sentences } from "../../texts/changeSentences";
import { restore as texts } from "../../texts/restore";
import { When } from "../shared/When";
import classes from "./ChangeRows.module.css";
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
}

export function ChangeRows({ items, flagNames, projectId, exact = false, linked }: ChangeRowsProps) {
  return (
    <ol className={classes.list}>
      {items.map((each) => {
        const who = actorInWords(each.actor);
        const subject = subjectOf(each, flagNames);
        return (
          <li key={each.id} className={classes.change}>
            <div className={classes.sentence}>
              <span>
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
