/**
 * A button that shows only an icon. The tooltip names the action; the label for screen readers also names its object.
 * A disabled button stays focusable, because it may be the one that was pressed last, or has a reason to read.
 */

import { ActionIcon, type ActionIconProps } from "@mantine/core";
import type { MouseEventHandler } from "react";
import { type Guarded, useGuard } from "./useGuard";
import { ReasonTooltip } from "./ReasonTooltip";

interface Props extends Omit<ActionIconProps, "disabled">, Guarded {
  readonly hint: string;
  readonly label?: string;
  readonly idle?: boolean;
  readonly onClick?: MouseEventHandler<HTMLButtonElement>;
}

export function IconButton({ hint, label = hint, idle = false, needs, within, onClick, ...rest }: Props) {
  const { reason, attributes } = useGuard({ needs, within });
  const isDisabled = idle || reason !== null;
  return (
    <ReasonTooltip reason={reason} hint={hint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        aria-disabled={idle}
        data-disabled={idle}
        {...attributes}
        {...(!isDisabled && { onClick })}
        {...rest}
      />
    </ReasonTooltip>
  );
}
