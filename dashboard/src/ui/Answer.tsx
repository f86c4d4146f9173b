/** On or off, shown as a word, a shape and a colour. */

import { common } from "./commonTexts";
import classes from "./Answer.module.css";

export function Answer({ on }: { on: boolean }) {
  return (
    <span className={classes.answer} data-on={on || undefined}>
      {on ? common.on : common.off}
    </span>
  );
}
