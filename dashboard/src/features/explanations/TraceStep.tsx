/** A step or a check of a trace, marked with whether it holds. */

import { VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { trace as texts } from "./traceTexts";
import { IconCheck, IconCross, IconMinus } from "../../ui/icons";
import classes from "./Trace.module.css";

export type Mark = "holds" | "fails" | "skipped";

interface Props {
  readonly mark: Mark;
  readonly title: ReactNode;
  /** Whether this step decided the result. */
  readonly decides?: boolean;
  readonly children?: ReactNode;
}

const ICONS = { holds: IconCheck, fails: IconCross, skipped: IconMinus } as const;

export function Step({ mark, title, decides = false, children }: Props) {
  const Icon = ICONS[mark];
  return (
    <li className={classes.step} data-mark={mark} data-decides={decides || undefined}>
      <span className={classes.mark}>
        <Icon size={13} />
        <VisuallyHidden>{texts[mark]} </VisuallyHidden>
      </span>
      <div className={classes.content}>
        <div className={classes.title}>{title}</div>
        {children}
      </div>
    </li>
  );
}
