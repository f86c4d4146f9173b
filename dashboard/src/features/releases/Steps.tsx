/** The progress of a release as a line of steps: what was done, the current step, and what comes next and when. */

import type { Rule } from "../../api/client";
import type { Release } from "./releasesCalls";
import { changesInWords, conditionInWords, type StepPlace, stepsOf } from "./releases";
import { inFull } from "../../ui/time";
import { releases as texts } from "./releasesTexts";
import { useNow } from "../../ui/When";
import classes from "./Steps.module.css";

interface Props {
  readonly release: Release;
  readonly rules: readonly Rule[];
}

export function Steps({ release, rules }: Props) {
  return (
    <ol className={classes.steps} aria-label={texts.steps}>
      {stepsOf(release).map((each) => (
        <li key={each.place} className={classes.step} data-state={each.state}>
          <span className={classes.state}>
            {texts.stepStates[each.state]}
            {each.isLate && <span className={classes.late}> ({texts.late})</span>}
          </span>
          <span className={classes.change}>{changesInWords(each.step.changes, rules)}</span>
          <span className={classes.when}>
            <WhenOf release={release} each={each} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function WhenOf({ release, each }: { release: Release; each: StepPlace }) {
  const now = useNow();
  if (each.at !== null) {
    return (
      <>
        <time dateTime={each.at}>{inFull(each.at)}</time>
        {each.foldedInto !== null && <span className={classes.note}>{texts.foldedInto(each.foldedInto)}</span>}
        {each.state === "skipped" && <span className={classes.note}>{texts.skippedWhy}</span>}
      </>
    );
  }
  const condition = conditionInWords(each);
  if (each.state === "never") return condition;
  if (each.state === "next" && release.state === "paused") return texts.waitsForResume;
  return (
    <>
      {each.due === null ? condition : <time dateTime={each.due}>{inFull(each.due)}</time>}
      {each.due !== null && each.step.least_users ? (
        <span className={classes.note}>{texts.leastUsers(each.step.least_users)}</span>
      ) : null}
      {each.state === "next" && each.due !== null && Date.parse(each.due) < now && (
        <span className={classes.note}>{release.guards.length > 0 ? texts.overdue : texts.soon}</span>
      )}
    </>
  );
}
