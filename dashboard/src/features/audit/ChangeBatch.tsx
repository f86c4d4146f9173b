/** The changes of one operation, as one entry whose parts unfold and can be put back together. */

import { Group, Text } from "@mantine/core";
import type { Change } from "../../api/changes";
import { type Batch, batchSubject, batchVerb } from "./changeBatches";
import { actorInWords } from "./changeSentences";
import { restoreNeeds } from "./restorable";
import { useEnvironments } from "../../ui/useHere";
import { useDialog } from "../../ui/useDialog";
import { changeBatches as texts } from "./changeBatchesTexts";
import { changeSentences as sentences } from "./changeSentencesTexts";
import { restore } from "./restoreTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconLayers } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import { Unfold } from "../../ui/Unfold";
import { ChangeRow, type ChangeRowProps } from "./ChangeRow";
import classes from "../../ui/changes/ChangeRows.module.css";
import { ChangeTime } from "./ChangeTime";

const RestoreAllDialog = lateDialog(() => import("./RestoreAllDialog").then((module) => module.RestoreAllDialog));

interface Props extends Omit<ChangeRowProps, "change"> {
  readonly batch: Batch;
  /** The loaded changes of the operation, newest first. */
  readonly changes: readonly [Change, ...Change[]];
}

export function ChangeBatch({ batch, changes, ...rows }: Props) {
  const [newest] = changes;
  const environments = useEnvironments();
  const nameOf = (id: string | null) => environments.find((each) => each.id === id)?.name;
  const place = nameOf(newest.environment_id);
  const who = actorInWords(newest.actor);
  const what = batchSubject(batch, nameOf(batch.origin_id));
  return (
    <li className={classes.change}>
      <div className={classes.sentence}>
        <span className={classes.words}>
          <span className={classes.who}>{who}</span>
          {newest.actor.token && sentences.withToken(newest.actor.token.name)} {batchVerb(batch, newest)}{" "}
          <span className={classes.what}>{what}</span>
          {place !== undefined && (
            <Text span c="dimmed">
              {" "}
              {batch.origin_id === null ? restore.inEnvironment(place) : texts.to(place)}
            </Text>
          )}
        </span>
        <span className={classes.when}>
          {rows.projectId !== undefined && (
            <RestoreAll
              {...rows}
              projectId={rows.projectId}
              changes={changes}
              isWhole={changes.length === batch.changes}
              words={`${who} ${batchVerb(batch, newest)} ${what}`}
            />
          )}
          <ChangeTime at={newest.at} exact={rows.exact} />
        </span>
      </div>
      <Unfold label={texts.show(changes.length, batch.changes)} icon={<IconLayers size={15} />}>
        <ol className={classes.parts}>
          {changes.map((each) => (
            <ChangeRow key={each.id} change={each} {...rows} />
          ))}
        </ol>
      </Unfold>
    </li>
  );
}

interface RestoreAllProps extends Pick<Props, "changes" | "flagNames"> {
  readonly projectId: string;
  readonly isWhole: boolean;
  readonly words: string;
}

/** Offered if all parts are loaded and can be put back. */
function RestoreAll({ projectId, changes, flagNames, isWhole, words }: RestoreAllProps) {
  const dialog = useDialog();
  const environment = useEnvironments().find(({ id }) => id === changes[0].environment_id);
  const needs = restoreNeeds(changes[0]);
  const canRestore = isWhole && changes.every((each) => restoreNeeds(each) !== null);
  if (!canRestore || needs === null) return null;
  return (
    <Group gap={0}>
      <GuardedButton
        needs={needs}
        within={environment}
        variant="subtle"
        size="compact-xs"
        flex="none"
        label={texts.restoreAllOf(words)}
        onClick={dialog.open}
      >
        {texts.restoreAll}
      </GuardedButton>
      <RestoreAllDialog
        projectId={projectId}
        changes={changes}
        areOneOperation
        flagNames={flagNames}
        onDone={() => undefined}
        {...dialog.props}
      />
    </Group>
  );
}
