/**
 * A button that is an icon. Whoever points at it is told what it does; whoever listens, also to what.
 * Where there is nothing to do at present, it keeps its place in the order of focus: it may be the one pressed last.
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
