/** A dialog that changes second factors. If this gives recovery codes, it shows them, and cannot be closed by accident. */

import { type ReactNode, useState } from "react";
import type { DialogProps } from "../../ui/useDialog";
import { twoFactor as texts } from "./twoFactorTexts";
import { Dialog } from "../../ui/Dialog";
import { FirstFocused } from "../../ui/DialogFrame";
import { RecoveryCodes } from "./RecoveryCodes";

/** Called with the recovery codes when the change is made; there may be none. */
export type OnChanged = (codes: readonly string[]) => void;

interface Props extends DialogProps {
  readonly title: string;
  readonly children: (onChanged: OnChanged) => ReactNode;
}

export function FactorDialog({ title, opened, onClose, children }: Props) {
  const [codes, setCodes] = useState<readonly string[]>([]);
  const hasCodes = codes.length > 0;
  const close = () => {
    setCodes([]);
    onClose();
  };
  const change: OnChanged = (given) => (given.length > 0 ? setCodes(given) : close());
  return (
    <Dialog
      title={hasCodes ? texts.codesHeading : title}
      opened={opened}
      onClose={close}
      closeOnEscape={!hasCodes}
      closeOnClickOutside={!hasCodes}
      withCloseButton={!hasCodes}
    >
      {hasCodes ? (
        <FirstFocused key="codes">
          <RecoveryCodes codes={codes} onStored={close} />
        </FirstFocused>
      ) : (
        children(change)
      )}
    </Dialog>
  );
}
