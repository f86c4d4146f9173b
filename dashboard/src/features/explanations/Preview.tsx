/** Previews a change to a flag before it is saved: for how many users the result changes, and the details for one user. */

import type { Flag, FlagPath, Rule } from "../../api/client";
import type { FlagDraft } from "./explainCalls";
import { Problem } from "../../api/problem";
import { problemAt, problemBelow } from "./unsaved";
import { simulatorTexts } from "./simulatorTexts";
import { IconFlask } from "../../ui/icons";
import { Impact } from "./Impact";
import classes from "./Preview.module.css";
import { TryIt } from "./TryIt";
import { Unfold } from "../../ui/Unfold";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly rules: readonly Rule[];
  /** Returns the changed flag; throws a Problem with the fields of the form that are not valid. */
  readonly makeDraft: () => FlagDraft;
  /** Where in the request the fields of the form are, such as `flag.rules.2.`. */
  readonly fieldsAt: string;
  /** Shows a Problem at the fields of the form. */
  readonly onInvalid: (problem: Problem) => void;
}

export function Preview({ makeDraft, fieldsAt, onInvalid, ...saved }: Props) {
  const make = () => {
    try {
      return makeDraft();
    } catch (error) {
      throw problemAt(error, fieldsAt);
    }
  };
  const onRefused = (error: unknown) => {
    const problem = problemBelow(error, fieldsAt);
    if (problem === null) return error;
    onInvalid(problem);
    return new Problem(400, simulatorTexts.unsavedInvalid);
  };
  return (
    <div className={classes.preview}>
      <Impact path={saved.path} draft={draftOrNull(makeDraft)} />
      <Unfold label={simulatorTexts.unsaved} icon={<IconFlask size={15} />}>
        <section className={classes.simulator} aria-label={simulatorTexts.unsaved}>
          <TryIt {...saved} makeDraft={make} onRefused={onRefused} />
        </section>
      </Unfold>
    </div>
  );
}

function draftOrNull(makeDraft: () => FlagDraft): FlagDraft | null {
  try {
    return makeDraft();
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
