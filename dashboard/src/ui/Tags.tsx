/** A flag's tags, as chips. */

import { UnstyledButton } from "@mantine/core";
import classes from "./Tags.module.css";

const texts = { tags: "Tags", onlyTag: (tag: string) => `Only flags with the tag ${tag}` };

interface Props {
  readonly tags: readonly string[];
  readonly most?: number;
  readonly onChoose?: ((tag: string) => void) | undefined;
}

export function Tags({ tags, most = tags.length, onChoose }: Props) {
  if (tags.length === 0) return null;
  const more = tags.length - most;
  return (
    <ul className={classes.tags} aria-label={texts.tags}>
      {tags.slice(0, most).map((tag) => (
        <li key={tag} className={classes.tag}>
          {onChoose ? (
            <UnstyledButton fz="inherit" c="inherit" aria-label={texts.onlyTag(tag)} onClick={() => onChoose(tag)}>
              {tag}
            </UnstyledButton>
          ) : (
            tag
          )}
        </li>
      ))}
      {more > 0 && <li className={classes.tag}>+{more}</li>}
    </ul>
  );
}
