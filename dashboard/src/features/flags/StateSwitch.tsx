/** A flag's switch. Its state is also shown as text, because many people cannot tell it by colour alone. */

import { UnstyledButton } from "@mantine/core";
import { type Guarded, useGuard } from "../../ui/useGuard";
import { common } from "../../ui/commonTexts";
import { ReasonTooltip } from "../../ui/ReasonTooltip";
import classes from "./StateSwitch.module.css";

interface Props extends Guarded {
  readonly on: boolean;
  readonly label: string;
  readonly onChange: (on: boolean) => void;
  readonly size?: "small" | "large";
}

export function StateSwitch({ on, label, onChange, size = "small", needs, within }: Props) {
  const { reason, attributes } = useGuard({ needs, within });
  return (
    <ReasonTooltip reason={reason}>
      <UnstyledButton
        role="switch"
        aria-checked={on}
        aria-label={label}
        className={classes.switch}
        data-on={on || undefined}
        data-size={size}
        {...attributes}
        {...(reason === null && { onClick: () => onChange(!on) })}
      >
        <span className={classes.track} aria-hidden>
          <span className={classes.thumb} />
        </span>
        <span className={classes.text} aria-hidden>
          {on ? common.on : common.off}
        </span>
      </UnstyledButton>
    </ReasonTooltip>
  );
}
