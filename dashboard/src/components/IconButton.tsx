/**
 * A button that shows only an icon. The tooltip names the action; the label for screen readers also names its object.
 * A disabled button stays focusable, because it may be the one that was pressed last.
 */

import { ActionIcon, type ActionIconProps, Tooltip } from "@mantine/core";
import type { MouseEventHandler } from "react";

interface Props extends Omit<ActionIconProps, "disabled"> {
  readonly hint: string;
  readonly label?: string;
  readonly idle?: boolean;
  readonly onClick: MouseEventHandler<HTMLButtonElement>;
}

export function IconButton({ hint, label = hint, idle = false, onClick, ...rest }: Props) {
  return (
    <Tooltip label={hint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        aria-disabled={idle}
        data-disabled={idle}
        {...(!idle && { onClick })}
        {...rest}
      />
    </Tooltip>
  );
}
