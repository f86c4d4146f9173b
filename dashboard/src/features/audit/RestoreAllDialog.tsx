/** Shows what putting back several changes alters and which cannot be put back, and puts the others back together. */

import { Modal, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { Change } from "../../api/changes";
import { lineOf } from "../../api/problem";
import { dryRunAllQuery, useRestoreChanges } from "./restoresCalls";
import { actorInWords, subjectOf, verbOf } from "./changeSentences";
import { notifyDone } from "../../api/notify";
import type { DialogProps } from "../../ui/useDialog";
import { common } from "../../ui/commonTexts";
import { restoreSeveral as texts } from "./restoreSeveralTexts";
import { TurnsOn } from "./TurnsOn";
import { Form } from "../../ui/Form";
import { Refusal } from "../../ui/Refusal";
import { Alterations } from "./Alterations";
import classes from "../../ui/changes/ChangeRows.module.css";
import { RestoreButtons } from "./RestoreButtons";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly changes: readonly Change[];
  /** Whether they are all changes of one operation, which are put back together or not at all. */
  readonly areOneOperation?: boolean;
  readonly flagNames: ReadonlyMap<string, string>;
  readonly onDone: () => void;
}

export function RestoreAllDialog({ opened, onClose, ...chosen }: Props) {
  return (
    <Modal title={texts.severalHeading(chosen.changes.length)} size={640} opened={opened} onClose={onClose}>
      <Preview {...chosen} onClose={onClose} />
    </Modal>
  );
}

function Preview({ projectId, changes, areOneOperation, flagNames, onDone, onClose }: Omit<Props, "opened">) {
  const [first] = changes;
  const operation = areOneOperation && first ? { batch_of: first.id } : null;
  const { data, error } = useQuery(dryRunAllQuery(projectId, operation ?? { changes: changes.map(({ id }) => id) }));
  const { mutateAsync: restore } = useRestoreChanges(projectId);
  const form = useForm({ initialValues: {} });
  const possible = (data?.items ?? []).filter(({ refusal }) => refusal === null).map((each) => each.change_id);
  const isWhole = data !== undefined && possible.length === data.items.length;
  const submit = async () => {
    await restore(operation && isWhole ? operation : { changes: possible });
    notifyDone(texts.severalRestored(possible.length));
    onClose();
    onDone();
  };
  const buttons = (busy: boolean) => (
    <RestoreButtons
      label={texts.restoreCount(possible.length)}
      busy={busy}
      disabled={possible.length === 0}
      isRefused={error !== null}
      onClose={onClose}
    />
  );
  return (
    <Form form={form} onSubmit={submit} buttons={buttons}>
      {error && <Refusal text={lineOf(error)} />}
      {!data && !error && <Text role="status">{common.loading}</Text>}
      {data && (
        <>
          <Text>{texts.severalText}</Text>
          <ol className={classes.list}>
            {data.items.map((item) => {
              const change = changes.find(({ id }) => id === item.change_id);
              return (
                change && (
                  <li key={item.change_id} className={classes.change}>
                    <Stack gap={4}>
                      <Text size="sm">
                        {actorInWords(change.actor)} {verbOf(change)} {subjectOf(change, flagNames)}
                      </Text>
                      {item.refusal === null ? (
                        <Alterations alterations={item.alterations} />
                      ) : (
                        <Text size="sm" c="dimmed">
                          {item.refusal}
                        </Text>
                      )}
                    </Stack>
                  </li>
                )
              );
            })}
          </ol>
          <TurnsOn projectId={projectId} alterations={data.items.flatMap((each) => each.alterations)} />
        </>
      )}
    </Form>
  );
}
