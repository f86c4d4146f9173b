/** A star that makes a flag a favourite of the account, in all environments. */

import { UnstyledButton } from "@mantine/core";
import { flagList as texts } from "./flagListTexts";
import classes from "./FavouriteStar.module.css";

interface Props {
  readonly name: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

export function FavouriteStar({ name, on, onChange }: Props) {
  return (
    <UnstyledButton
      className={classes.star}
      aria-pressed={on}
      aria-label={texts.favourite(name)}
      onClick={() => onChange(!on)}
    >
      <span aria-hidden>{on ? "★" : "☆"}</span>
    </UnstyledButton>
  );
}
