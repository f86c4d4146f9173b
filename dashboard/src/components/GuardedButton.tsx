/** A button that stays in its place, disabled, if the account may not use it, and says why. It can still be focused. */

import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { Ref } from "react";

interface Props extends ButtonProps {
  /** Why the button cannot be used; null if it can. */
  readonly reason: string | null;
  readonly label?: string;
  readonly onClick: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function GuardedButton({ reason, label, onClick, ...rest }: Props) {
  return (
    <Tooltip label={reason} disabled={reason === null} events={{ hover: true, focus: true, touch: true }}>
      <Button
        aria-label={label}
        aria-disabled={reason !== null || undefined}
        data-disabled={reason !== null}
        {...(reason === null && { onClick })}
        {...rest}
      />
    </Tooltip>
  );
}
