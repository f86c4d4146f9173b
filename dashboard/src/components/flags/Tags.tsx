/** A flag's tags, as chips. */

import { t } from "../../texts";
import classes from "./Tags.module.css";

export function Tags({ tags, most = tags.length }: { tags: readonly string[]; most?: number }) {
  if (tags.length === 0) return null;
  const more = tags.length - most;
  return (
    <ul className={classes.tags} aria-label={t.flag.tags}>
      {tags.slice(0, most).map((tag) => (
        <li key={tag} className={classes.tag}>
          {tag}
        </li>
      ))}
      {more > 0 && <li className={classes.tag}>+{more}</li>}
    </ul>
  );
}
