/** Says why a control is disabled, also by keyboard and touch. For an enabled control, it shows only the hint. */

import { Tooltip } from "@mantine/core";
import type { ReactElement } from "react";

interface Props {
  readonly reason: string | null;
  /** The text of the tooltip while the control can be used. */
  readonly hint?: string;
  readonly children: ReactElement;
}

export function ReasonTooltip({ reason, hint, children }: Props) {
  const events = reason !== null && { events: { hover: true, focus: true, touch: true } };
  return (
    <Tooltip label={reason ?? hint} disabled={reason === null && hint === undefined} multiline maw={320} {...events}>
      {children}
    </Tooltip>
  );
}
