/** A form in a dialog, or on a page, where it has no cancel button. */

import { Button, Group } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { lazy, type ReactNode, Suspense } from "react";
import type { Changed } from "./editing/useEditor";
import type { Guarded } from "./useGuard";
import { common } from "./commonTexts";
import { Form } from "./Form";
import { GuardedButton } from "./GuardedButton";

const DraftNotice = lazy(() => import("./DraftNotice"));
const ChangedMeanwhile = lazy(() => import("./editing/ChangedMeanwhile"));

/** The state of a form that keeps a draft and whose resource others may change. */
export interface Editing {
  readonly draft: {
    readonly found: { readonly at: number } | null;
    readonly accept: () => void;
    readonly discard: () => void;
    readonly end: () => void;
  };
  readonly changed?: Changed | null;
}

interface Props<Values extends object> extends Guarded {
  readonly form: UseFormReturnType<Values>;
  readonly action: string;
  readonly onSubmit: (values: Values) => Promise<unknown>;
  readonly onClose?: () => void;
  readonly children: ReactNode;
  readonly aside?: ReactNode;
  readonly editing?: Editing;
}

export function DialogForm<Values extends object>(props: Props<Values>) {
  const { action, needs, onClose, editing, children, ...rest } = props;
  const { draft, changed } = editing ?? {};
  const cancel = (): void => {
    draft?.end();
    onClose?.();
  };
  const buttons = (busy: boolean, formId: string) => (
    <>
      {changed && (
        <Suspense>
          <ChangedMeanwhile {...changed} />
        </Suspense>
      )}
      <Group justify={onClose ? "flex-end" : "flex-start"} gap="xs">
        {onClose && (
          <Button variant="default" onClick={cancel}>
            {common.cancel}
          </Button>
        )}
        <GuardedButton type="submit" form={formId} needs={needs} loading={busy}>
          {action}
        </GuardedButton>
      </Group>
    </>
  );
  return (
    <Form buttons={buttons} {...rest}>
      {draft?.found && (
        <Suspense>
          <DraftNotice at={draft.found.at} onKeep={draft.accept} onDiscard={draft.discard} />
        </Suspense>
      )}
      {children}
    </Form>
  );
}
