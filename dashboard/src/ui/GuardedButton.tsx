/** A button that stays in its place, disabled, if the account may not use it, and says why. It can still be focused. */

import { Button, type ButtonProps } from "@mantine/core";
import type { MouseEvent, Ref } from "react";
import { type Guarded, useGuard } from "./useGuard";
import { ReasonTooltip } from "./ReasonTooltip";

interface Props extends ButtonProps, Guarded {
  readonly label?: string;
  readonly type?: "button" | "submit";
  readonly form?: string;
  readonly onClick?: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function GuardedButton({ needs, within, refusal, label, onClick, ...rest }: Props) {
  const { reason, attributes } = useGuard({ needs, within, refusal });
  return (
    <ReasonTooltip reason={reason}>
      <Button aria-label={label} {...attributes} onClick={reason === null ? onClick : doNothing} {...rest} />
    </ReasonTooltip>
  );
}

/** A disabled button does not submit its form either, also when Enter is pressed in a field. */
function doNothing(event: MouseEvent): void {
  event.preventDefault();
}
