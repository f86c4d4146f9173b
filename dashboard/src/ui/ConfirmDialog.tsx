/** Asks for confirmation of an action that cannot be undone. If it deletes a lot, the name must be typed. */

import { Button, Group, Modal, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { type State, stateInstead } from "../api/states";
import { fieldChanges } from "./changes/changes";
import type { Fields } from "../api/equal";
import { useNewest } from "./useNewest";
import type { DialogProps } from "./useDialog";
import { notifyDone } from "../api/notify";
import { common } from "./commonTexts";
import { deletion } from "./deletionTexts";
import { changed as texts } from "./editing/changedTexts";
import { Form } from "./Form";

const ChangedMeanwhile = lazy(() => import("./editing/ChangedMeanwhile"));

/** The resource of the action, if its state must be the same as when the dialog opened, or be shown first. */
export interface Target {
  readonly projectId: string;
  readonly id: string;
  readonly resource: object;
  /** Loads it with its tag, if it has no `updated_at`. */
  readonly load?: () => Promise<State>;
}

const UNCHANGING: Target = { projectId: "", id: "", resource: {} };

interface Props extends DialogProps {
  readonly title: string;
  readonly consequence: ReactNode;
  readonly action?: string;
  /** The label of the button that closes the dialog without the action. */
  readonly dismissal?: string;
  /** The text that must be typed to confirm. */
  readonly name?: string;
  readonly of?: Target;
  /** Gets the tag of the state that was shown, if it is known. */
  readonly onConfirm: (tag: string | null) => Promise<unknown>;
}

export function ConfirmDialog(props: Props) {
  return (
    <Modal title={props.title} opened={props.opened} onClose={props.onClose}>
      <Confirmation {...props} />
    </Modal>
  );
}

function Confirmation({ consequence, name = "", onClose, onConfirm, of = UNCHANGING, ...said }: Props) {
  const { action = common.delete, dismissal = common.cancel } = said;
  const form = useForm({ initialValues: { typed: "" } });
  const [base] = useState(of.resource as Fields);
  const { state, note } = useNewest(of.resource);
  const isChanged = fieldChanges({ before: base, after: state.resource }).length > 0;
  const confirm = async () => {
    const now = of.load ? await of.load() : state;
    if (fieldChanges({ before: state.resource, after: now.resource }).length > 0) return note(now);
    try {
      await onConfirm(now.tag);
    } catch (error) {
      const instead = stateInstead(error);
      if (instead === null) throw error;
      note(instead);
    }
  };
  const buttons = (busy: boolean) => (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose} data-autofocus={!name || undefined}>
        {dismissal}
      </Button>
      <Button type="submit" color="alarm.7" disabled={form.values.typed.trim() !== name.trim()} loading={busy}>
        {action}
      </Button>
    </Group>
  );
  return (
    <Form form={form} onSubmit={confirm} buttons={buttons}>
      <Text component="div" className="break">
        {consequence}
      </Text>
      {name && (
        <TextInput
          label={deletion.prompt}
          description={<span className="mono break">{name}</span>}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps("typed")}
        />
      )}
      {isChanged && (
        <Suspense>
          <ChangedMeanwhile
            projectId={of.projectId}
            resourceId={of.id}
            base={base}
            state={state}
            conflicts={[]}
            onChoose={() => undefined}
            note={texts.confirm}
          />
        </Suspense>
      )}
    </Form>
  );
}

interface DeleteProps extends DialogProps {
  readonly name: string;
  readonly consequence: string;
  readonly of?: Target;
  readonly onDelete: (tag: string | null) => Promise<unknown>;
  /** Whether to say that it was deleted; false if the call says so and offers to undo it. */
  readonly saysSo?: boolean;
}

export function DeleteDialog({ name, onDelete, saysSo = true, ...rest }: DeleteProps) {
  const confirm = async (tag: string | null) => {
    await onDelete(tag);
    if (saysSo) notifyDone(deletion.done(name));
  };
  return <ConfirmDialog title={deletion.heading(name)} name={name} onConfirm={confirm} {...rest} />;
}
