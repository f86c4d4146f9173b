/** Copies the chosen flags to another environment, after showing what that changes. */

import { Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type CopyAlteration, copyPreviewQuery, type Part, useCopyFlags } from "./comparisonsCalls";
import { lineOf, Problem } from "../../api/problem";
import type { Alteration } from "../audit/restoresCalls";
import { byFlag } from "./comparisons";
import type { DialogProps } from "../../ui/useDialog";
import { common } from "../../ui/commonTexts";
import { copy as texts } from "./compareTexts";
import { TurnsOn } from "../audit/TurnsOn";
import { Form } from "../../ui/Form";
import { Refusal } from "../../ui/Refusal";
import { offerUndo } from "../audit/UndoMessage";
import { CopyPreview } from "./CopyPreview";
import type { Pair } from "./DifferenceRow";

const PARTS = Object.keys(texts.part) as Part[];

interface Props extends DialogProps {
  readonly projectId: string;
  readonly pair: Pair;
  readonly keys: readonly string[];
  readonly onLeaveOut: (keys: readonly string[]) => void;
  readonly onCopied: () => void;
}

export function CopyDialog(props: Props) {
  return (
    <Modal title={texts.heading(props.pair.target.name)} opened={props.opened} onClose={props.onClose} size="lg">
      <Copy {...props} />
    </Modal>
  );
}

function Copy({ projectId, pair, keys, opened, onClose, onLeaveOut, onCopied }: Props) {
  const cache = useQueryClient();
  const [parts, setParts] = useState<Part[]>(PARTS);
  const body = { from: pair.origin.id, to: pair.target.id, flag_keys: [...keys], parts, dry_run: false };
  const { data, error, isFetching } = useQuery(copyPreviewQuery(projectId, body, opened));
  const { mutateAsync: copy } = useCopyFlags(projectId);
  const form = useForm({ initialValues: {} });
  const refused = refusedKeys(error, keys);
  const isReady = parts.length > 0 && !error && data !== undefined && data.alterations.length > 0;
  const submit = async () => {
    const { alterations } = await copy({ ...body, if_unchanged: data?.fingerprint ?? null });
    const message = texts.copied(byFlag(alterations).size, pair.target.name);
    const change = alterations[0]?.change_id;
    const made = { projectId, changes: change ? [change] : [], areOneOperation: true };
    offerUndo(cache, { done: "copied", name: message }, made);
    onCopied();
    onClose();
  };
  const buttons = (busy: boolean) => (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        {common.cancel}
      </Button>
      <Button type="submit" loading={busy} disabled={!isReady || isFetching}>
        {texts.apply}
      </Button>
    </Group>
  );
  return (
    <Form form={form} onSubmit={submit} buttons={buttons}>
      <Checkbox.Group label={texts.parts} value={parts} onChange={(chosen) => setParts(chosen)}>
        <Stack gap={6} mt={6}>
          {PARTS.map((part) => (
            <Checkbox key={part} value={part} label={texts.part[part]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Text size="sm" c="dimmed">
        {texts.hint}
      </Text>
      {parts.length === 0 && <Text>{texts.noPart}</Text>}
      {parts.length > 0 && error && <Refused error={error} refused={refused} onLeaveOut={onLeaveOut} />}
      {parts.length > 0 && !error && !data && <Text role="status">{common.loading}</Text>}
      {parts.length > 0 && !error && data && (
        <>
          <CopyPreview alterations={data.alterations} />
          <TurnsOn projectId={projectId} alterations={data.alterations.map((each) => inTarget(each, pair.target.id))} />
        </>
      )}
    </Form>
  );
}

/** An alteration in the form of a restore's. */
function inTarget({ action, flag_id: id, flag_key: key, fields }: CopyAlteration, environmentId: string): Alteration {
  return {
    action,
    resource_id: id,
    environment_id: environmentId,
    flag_key: key,
    turns_on: fields.some(({ field, before, after }) => field === "enabled" && after === true && before !== true),
    fields: fields.map(({ field, before, after }) => ({ field, present: before, restored: after })),
  };
}

interface RefusedProps {
  readonly error: Error;
  /** The reasons by flag. */
  readonly refused: ReadonlyMap<string, string>;
  readonly onLeaveOut: (keys: readonly string[]) => void;
}

function Refused({ error, refused, onLeaveOut }: RefusedProps) {
  if (refused.size === 0) return <Refusal text={lineOf(error)} />;
  const lines = [...refused].map(([key, reason]) => `${key} ${reason}.`);
  return (
    <>
      <Refusal text={`${error.message} ${lines.join(" ")}`} />
      <Button variant="default" onClick={() => onLeaveOut([...refused.keys()])}>
        {texts.leaveOut}
      </Button>
    </>
  );
}

function refusedKeys(error: unknown, keys: readonly string[]): Map<string, string> {
  const fields = error instanceof Problem ? error.fields : [];
  return new Map(
    fields.flatMap(({ field, message }): [string, string][] => {
      const key = keys[Number(/^flag_keys\.(\d+)$/.exec(field)?.[1] ?? -1)];
      return key === undefined ? [] : [[key, message]];
    }),
  );
}
