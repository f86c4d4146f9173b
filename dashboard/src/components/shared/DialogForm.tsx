/** A form in a dialog, or on a page, where it has no cancel button. */

import { Button, Group } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import type { Guarded } from "../../lib/useGuard";
import { t } from "../../texts";
import { Form } from "./Form";
import { GuardedButton } from "./GuardedButton";

interface Props<Values extends object> extends Guarded {
  readonly form: UseFormReturnType<Values>;
  readonly action: string;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  readonly onClose?: () => void;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
}

export function DialogForm<Values extends object>({ action, needs, onClose, ...rest }: Props<Values>) {
  const buttons = (busy: boolean, formId: string) => (
    <Group justify={onClose ? "flex-end" : "flex-start"} gap="xs">
      {onClose && (
        <Button variant="default" onClick={onClose}>
          {t.cancel}
        </Button>
      )}
      <GuardedButton type="submit" form={formId} needs={needs} loading={busy}>
        {action}
      </GuardedButton>
    </Group>
  );
  return <Form buttons={buttons} {...rest} />;
}
