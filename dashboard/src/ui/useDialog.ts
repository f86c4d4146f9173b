/** The state of a dialog, as the dialog components expect it. */

import { useState } from "react";
import { closeDraft, findDraft } from "./editing/drafts";

export interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** `draft` is the key of the draft of the dialog's form, with which it opens again if the page was left meanwhile. */
export function useDialog(draft?: string) {
  const [opened, setOpened] = useState(() => draft !== undefined && findDraft(draft)?.isOpen === true);
  const open = (): void => setOpened(true);
  const close = (): void => {
    if (draft !== undefined) closeDraft(draft);
    setOpened(false);
  };
  return { open, props: { opened, onClose: close } };
}
