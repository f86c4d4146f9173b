/** A row of a list that has several fields: two beside the button that removes it, and others below. */

import type { ReactNode } from "react";
import { IconButton } from "./IconButton";
import { IconTrash } from "./icons";
import classes from "./RowCard.module.css";

interface Props {
  readonly label: string;
  readonly first: ReactNode;
  readonly second: ReactNode;
  readonly removeHint: string;
  readonly removeLabel: string;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}

export function RowCard({ label, first, second, removeHint, removeLabel, onRemove, children }: Props) {
  return (
    <fieldset className={classes.card} aria-label={label}>
      <div className={classes.head}>
        <div>{first}</div>
        <div className={classes.second}>{second}</div>
        <IconButton hint={removeHint} label={removeLabel} className={classes.remove} onClick={onRemove}>
          <IconTrash size={16} />
        </IconButton>
      </div>
      {children}
    </fieldset>
  );
}
