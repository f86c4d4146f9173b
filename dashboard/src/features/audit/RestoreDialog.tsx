/** Shows what putting back a change alters, and puts it back. */

import { Modal, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { lineOf } from "../../api/problem";
import { dryRunQuery, useRestoreChange } from "./restoresCalls";
import { notifyDone } from "../../api/notify";
import type { DialogProps } from "../../ui/useDialog";
import { common } from "../../ui/commonTexts";
import { restore as texts } from "./restoreTexts";
import { TurnsOn } from "./TurnsOn";
import { Form } from "../../ui/Form";
import { Refusal } from "../../ui/Refusal";
import { Alterations } from "./Alterations";
import { RestoreButtons } from "./RestoreButtons";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly changeId: string;
  /** The name of what is put back, and its place: "New checkout in Production". */
  readonly what: string;
  /** Whether the change has created it, so that it is deleted. */
  readonly deletes: boolean;
}

export function RestoreDialog({ opened, onClose, ...change }: Props) {
  return (
    <Modal
      title={(change.deletes ? texts.undoHeading : texts.restoreHeading)(change.what)}
      opened={opened}
      onClose={onClose}
    >
      <Preview {...change} onClose={onClose} />
    </Modal>
  );
}

function Preview({ projectId, changeId, what, deletes, onClose }: Omit<Props, "opened">) {
  const { data, error } = useQuery(dryRunQuery(projectId, changeId));
  const { mutateAsync: restore } = useRestoreChange(projectId, changeId);
  const form = useForm({ initialValues: {} });
  const submit = async () => {
    await restore();
    notifyDone((deletes ? texts.deleted : texts.restored)(what));
    onClose();
  };
  const buttons = (busy: boolean) => (
    <RestoreButtons
      label={deletes ? texts.deleteIt : texts.restoreIt}
      busy={busy}
      disabled={!data}
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
          {!deletes && <Text>{texts.restoreText}</Text>}
          <Alterations alterations={data.alterations} />
          <TurnsOn projectId={projectId} alterations={data.alterations} />
        </>
      )}
    </Form>
  );
}
