/** Offers to put back a change, if it is of a kind that can be. */

import type { Change } from "../../api/changes";
import { isCreation, restoreNeeds } from "./restorable";
import { useEnvironments } from "../../ui/useHere";
import { useDialog } from "../../ui/useDialog";
import { restore as texts } from "./restoreTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { lateDialog } from "../../ui/lateDialog";

const RestoreDialog = lateDialog(() => import("./RestoreDialog").then((module) => module.RestoreDialog));

interface Props {
  readonly projectId: string;
  readonly change: Change;
  /** The name of what was changed; of a rule, that of its flag. */
  readonly subject: string;
  /** The change in words. */
  readonly words: string;
}

export function RestoreButton({ projectId, change, subject, words }: Props) {
  const dialog = useDialog();
  const environments = useEnvironments();
  const needs = restoreNeeds(change);
  if (needs === null) return null;
  const environment = environments.find((each) => each.id === change.environment_id);
  const named = change.action.startsWith("rule.") ? texts.ruleOf(subject) : subject;
  const what = environment ? texts.placed(named, environment.name) : named;
  return (
    <>
      <GuardedButton
        needs={needs}
        within={environment}
        variant="subtle"
        size="compact-xs"
        label={isCreation(change) ? texts.undoOf(words) : texts.restoreOf(words)}
        onClick={dialog.open}
        flex="none"
      >
        {isCreation(change) ? texts.undoIt : texts.restore}
      </GuardedButton>
      <RestoreDialog
        projectId={projectId}
        changeId={change.id}
        what={what}
        deletes={isCreation(change)}
        {...dialog.props}
      />
    </>
  );
}
