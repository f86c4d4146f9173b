/** A dialog with a form: fields, refusals at their fields, and one button that does it. */

import { Button, Group, Modal, Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { type ReactNode, useState } from "react";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";
import { Refusal } from "./Refusal";

interface DialogProps {
  readonly title: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Built anew with every opening, so that a form never shows what was typed before. */
  readonly children: ReactNode;
}

export function FormDialog({ title, opened, onClose, children }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {children}
    </Modal>
  );
}

interface FormProps<Values extends object> {
  readonly form: UseFormReturnType<Values>;
  readonly action: string;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

export function DialogForm<Values extends object>({ form, action, onSubmit, onClose, children }: FormProps<Values>) {
  const refusal = useRefusal(form);
  const [busy, setBusy] = useState(false);
  const submit = form.onSubmit(async (values) => {
    setBusy(true);
    refusal.clear();
    try {
      await onSubmit(values);
    } catch (error) {
      refusal.show(error);
    } finally {
      setBusy(false);
    }
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {children}
        <Refusal text={refusal.refusal} />
        <Group justify="flex-end" gap="xs">
          {onClose && (
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
          )}
          <Button type="submit" loading={busy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
