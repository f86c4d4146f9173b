/** Shows what putting back a change alters, and puts it back. */

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { lineOf } from "../../api/problem";
import { type Alteration, dryRunQuery, useRestoreChange } from "../../api/restores";
import { fieldChanges } from "../../lib/changes";
import { notifyDone } from "../../lib/notify";
import type { DialogProps } from "../../lib/useDialog";
import { t } from "../../texts";
import { restore as texts } from "../../texts/restore";
import { Form } from "../shared/Form";
import { Refusal } from "../shared/Refusal";
import { ChangedFields } from "./ChangedFields";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly changeId: string;
  /** What is put back, and where: "New checkout in Production". */
  readonly what: string;
}

export function RestoreDialog({ opened, onClose, ...change }: Props) {
  return (
    <Modal title={texts.restoreHeading(change.what)} opened={opened} onClose={onClose}>
      <Preview {...change} onClose={onClose} />
    </Modal>
  );
}

function Preview({ projectId, changeId, what, onClose }: Omit<Props, "opened">) {
  const { data, error } = useQuery(dryRunQuery(projectId, changeId));
  const { mutateAsync: restore } = useRestoreChange(projectId, changeId);
  const form = useForm({ initialValues: {} });
  const submit = async () => {
    await restore();
    notifyDone(texts.restored(what));
    onClose();
  };
  const buttons = (busy: boolean) => (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose} data-autofocus>
        {error ? t.close : t.cancel}
      </Button>
      {!error && (
        <Button type="submit" loading={busy} disabled={!data}>
          {texts.restoreIt}
        </Button>
      )}
    </Group>
  );
  return (
    <Form form={form} onSubmit={submit} buttons={buttons}>
      {error && <Refusal text={lineOf(error)} />}
      {!data && !error && <Text role="status">{t.loading}</Text>}
      {data && (
        <>
          <Text>{texts.restoreText}</Text>
          <Alterations alterations={data.alterations} />
        </>
      )}
    </Form>
  );
}

/** The first is that of the resource; a flag that comes back is followed by its rules. */
function Alterations({ alterations }: { alterations: readonly Alteration[] }) {
  const [first, ...others] = alterations;
  if (!first) return null;
  const [kind = "", verb = ""] = first.action.split(".");
  const before = Object.fromEntries(first.fields.map(({ field, present }) => [field, present]));
  const after = Object.fromEntries(first.fields.map(({ field, restored }) => [field, restored]));
  return (
    <Stack gap="xs">
      {verb === "created" && kind in texts.comesBack && (
        <Text>{texts.comesBack[kind as keyof typeof texts.comesBack]}</Text>
      )}
      {verb === "unarchived" && <Text>{texts.isUnarchived}</Text>}
      {verb === "archived" && <Text>{texts.isArchived}</Text>}
      <ChangedFields fields={fieldChanges({ before: verb === "created" ? null : before, after })} />
      {others.length > 0 && <Text>{texts.rulesComeBack(others.length)}</Text>}
    </Stack>
  );
}
