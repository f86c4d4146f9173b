/** Asks before many flags are changed, and lists which of them change. */

import { Alert, Button, Group, Modal, TagsInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type BulkAction, useChangeFlags } from "./bulkCalls";
import type { Environment, EnvironmentPath, Flag } from "../../api/client";
import { Problem } from "../../api/problem";
import { planOf, refusedFlags, undoable } from "./bulk";
import { notifyDone } from "../../api/notify";
import type { DialogProps } from "../../ui/useDialog";
import { flagsTexts } from "../flags/flagsTexts";
import { common } from "../../ui/commonTexts";
import { bulk as texts } from "./bulkTexts";
import { Form } from "../../ui/Form";
import { Given } from "../../ui/Given";
import { Refusal } from "../../ui/Refusal";
import { offerUndo } from "../audit/UndoMessage";
import { TurnedOnUsers } from "../flags/TurnedOnUsers";
import classes from "../../ui/SelectionBar.module.css";

interface Props extends DialogProps {
  readonly path: EnvironmentPath;
  readonly environment: Environment;
  readonly flags: readonly Flag[];
  readonly action: BulkAction;
  readonly onLeaveOut: (flags: readonly Flag[]) => void;
  readonly onDone: () => void;
}

interface Refused {
  readonly problem: Problem;
  /** The ids of the flags that it names. */
  readonly flags: readonly string[];
}

export function BulkDialog(props: Props) {
  return (
    <Modal title={texts.heading[props.action]} opened={props.opened} onClose={props.onClose} size="lg">
      <Confirmation {...props} />
    </Modal>
  );
}

function Confirmation({ path, environment, flags, action, onClose, onLeaveOut, onDone }: Props) {
  const cache = useQueryClient();
  const { mutateAsync } = useChangeFlags(path);
  const [refusal, setRefusal] = useState<Refused | null>(null);
  const form = useForm({ initialValues: { tags: [] as string[] } });
  const takesTags = action === "add_tags" || action === "remove_tags";
  const { changing, same } = planOf(flags, action, form.values.tags);
  const refused = flags.filter((flag) => refusal?.flags.includes(flag.id));
  const submit = async () => {
    setRefusal(null);
    const ids = flags.map((flag) => flag.id);
    try {
      const { changes } = await mutateAsync({ flags: ids, action, tags: takesTags ? form.values.tags : [] });
      const message = texts.done[action](changes.length);
      const undo = undoable(changes);
      if (undo.length > 0)
        offerUndo(cache, { done: "copied", name: message }, { projectId: path.project_id, changes: undo });
      else notifyDone(message);
      onClose();
      onDone();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setRefusal({ problem: error, flags: refusedFlags(error.fields, ids) });
    }
  };
  const leaveOut = () => {
    onLeaveOut(refused);
    setRefusal(null);
  };
  const buttons = (busy: boolean) => (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose} data-autofocus={!takesTags || undefined}>
        {common.cancel}
      </Button>
      <Button
        type="submit"
        loading={busy}
        disabled={changing.length === 0}
        {...(action === "archive" && { color: "alarm.7" })}
      >
        {texts.confirm[action](changing.length)}
      </Button>
    </Group>
  );
  return (
    <Form form={form} onSubmit={submit} buttons={buttons}>
      {environment.critical && action !== "add_tags" && action !== "remove_tags" && (
        <Alert role="note" color="alarm" variant="light" py="xs">
          {texts.critical(environment.name)}
          {action === "enable" && changing.length > 0 && (
            <TurnedOnUsers flags={changing.map(({ id, name }) => ({ name, path: { ...path, flag_id: id } }))} />
          )}
        </Alert>
      )}
      {action === "archive" && <Text>{texts.archiveText}</Text>}
      {takesTags && (
        <TagsInput
          label={texts.tags}
          description={flagsTexts.tagsHint}
          data={action === "remove_tags" ? [...new Set(flags.flatMap((flag) => flag.tags))].slice(0, 100) : []}
          maxTags={20}
          splitChars={[","]}
          acceptValueOnBlur
          data-autofocus
          {...form.getInputProps("tags")}
        />
      )}
      {changing.length === 0 && !(takesTags && form.values.tags.length === 0) && <Text>{texts.nothing}</Text>}
      {changing.length > 0 && <Listed title={texts.changing(changing.length)} flags={changing} />}
      {same.length > 0 && changing.length > 0 && <Listed title={texts.same(same.length)} flags={same} />}
      <Refusal text={refusal && textOf(refusal.problem)} />
      {refused.length > 0 && refused.length < flags.length && (
        <Button variant="default" onClick={leaveOut}>
          {texts.leaveOut}
        </Button>
      )}
    </Form>
  );
}

function textOf({ message, fields }: Problem): string {
  return [message, ...fields.map((each) => each.message)].join(" ");
}

function Listed({ title, flags }: { title: string; flags: readonly Flag[] }) {
  return (
    <div>
      <Text fw={570}>{title}</Text>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <ul className={classes.list} tabIndex={0} aria-label={title}>
        {flags.map((flag) => (
          <li key={flag.id} className="break">
            <Given text={flag.name} /> <code>{flag.key}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
