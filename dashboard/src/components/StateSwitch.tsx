/** A flag's switch. Its state is also shown as text, because many people cannot tell it by colour alone. */

import { UnstyledButton } from "@mantine/core";
import { t } from "../texts";
import classes from "./StateSwitch.module.css";

interface Props {
  readonly on: boolean;
  readonly label: string;
  readonly onChange: (on: boolean) => void;
  readonly size?: "small" | "large";
  readonly tabIndex?: number;
}

export function StateSwitch({ on, label, onChange, size = "small", tabIndex }: Props) {
  return (
    <UnstyledButton
      role="switch"
      aria-checked={on}
      aria-label={label}
      className={classes.switch}
      data-on={on || undefined}
      data-size={size}
      onClick={() => onChange(!on)}
      {...(tabIndex !== undefined && { tabIndex })}
    >
      <span className={classes.track} aria-hidden>
        <span className={classes.thumb} />
      </span>
      <span className={classes.text} aria-hidden>
        {on ? t.on : t.off}
      </span>
    </UnstyledButton>
  );
}
