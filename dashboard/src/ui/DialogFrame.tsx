/** A dialog whose content may still have to be loaded. Its first field has the focus as soon as it is there. */

import { Modal, type ModalProps } from "@mantine/core";
import { type ReactNode, Suspense, useEffect, useRef } from "react";
import { RowsSkeleton } from "./PageSkeleton";

export function DialogFrame({ children, ...rest }: ModalProps) {
  return (
    <Modal {...rest}>
      <Suspense fallback={<RowsSkeleton rows={4} height={56} />}>
        <FirstFocused>{children}</FirstFocused>
      </Suspense>
    </Modal>
  );
}

/** The dialog gives the focus to its first field when it opens, which is too early if the field is not yet loaded. */
export function FirstFocused({ children }: { children: ReactNode }) {
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Later, because the dialog first records which element had the focus, to return it when it closes.
    const timer = window.setTimeout(() => {
      // What comes before the field, such as a code to scan, stays visible on small screens.
      content.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus({ preventScroll: true });
    });
    return () => window.clearTimeout(timer);
  }, []);
  return <div ref={content}>{children}</div>;
}
