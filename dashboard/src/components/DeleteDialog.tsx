/** Asks for the name of what is about to be deleted, so that nobody deletes by slip. */

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { lineOf } from "../api/problem";
import { t } from "../texts";
import { Refusal } from "./Refusal";

interface Props {
  readonly name: string;
  readonly consequence: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onDelete: () => Promise<unknown>;
}

export function DeleteDialog(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={t.deletion.heading(props.name)}>
      <Confirmation {...props} />
    </Modal>
  );
}

function Confirmation({ name, consequence, onClose, onDelete }: Props) {
  const [typed, setTyped] = useState("");
  const [refusal, setRefusal] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const matches = typed.trim() === name.trim();
  const confirm = async () => {
    setBusy(true);
    try {
      await onDelete();
    } catch (error) {
      setRefusal(lineOf(error));
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (matches && !busy) void confirm();
      }}
    >
      <Stack gap="md">
        <Text size="md">{consequence}</Text>
        <TextInput
          label={t.deletion.prompt}
          description={<span className="mono break">{name}</span>}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <Refusal text={refusal} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" color="alarm.7" disabled={!matches} loading={busy}>
            {t.delete}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
