/** Asks for confirmation of an action that cannot be undone. If it deletes a lot, the name must be typed. */

import { Button, Group, Modal, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { DialogProps } from "../../lib/useDialog";
import { notifyDone } from "../../lib/notify";
import { t } from "../../texts";
import { Form } from "./Form";

interface Props extends DialogProps {
  readonly title: string;
  readonly consequence: string;
  readonly action?: string;
  /** The text that must be typed to confirm. */
  readonly name?: string;
  readonly onConfirm: () => Promise<unknown>;
}

export function ConfirmDialog(props: Props) {
  return (
    <Modal title={props.title} opened={props.opened} onClose={props.onClose}>
      <Confirmation {...props} />
    </Modal>
  );
}

function Confirmation({ consequence, action = t.delete, name = "", onClose, onConfirm }: Props) {
  const form = useForm({ initialValues: { typed: "" } });
  const buttons = (busy: boolean) => (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose} data-autofocus={!name || undefined}>
        {t.cancel}
      </Button>
      <Button type="submit" color="alarm.7" disabled={form.values.typed.trim() !== name.trim()} loading={busy}>
        {action}
      </Button>
    </Group>
  );
  return (
    <Form form={form} onSubmit={onConfirm} buttons={buttons}>
      <Text className="break">{consequence}</Text>
      {name && (
        <TextInput
          label={t.deletion.prompt}
          description={<span className="mono break">{name}</span>}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps("typed")}
        />
      )}
    </Form>
  );
}

interface DeleteProps extends DialogProps {
  readonly name: string;
  readonly consequence: string;
  readonly onDelete: () => Promise<unknown>;
  /** Whether to say that it was deleted; false if the call says so and offers to undo it. */
  readonly saysSo?: boolean;
}

export function DeleteDialog({ name, onDelete, saysSo = true, ...rest }: DeleteProps) {
  const confirm = async () => {
    await onDelete();
    if (saysSo) notifyDone(t.deletion.done(name));
  };
  return <ConfirmDialog title={t.deletion.heading(name)} name={name} onConfirm={confirm} {...rest} />;
}
