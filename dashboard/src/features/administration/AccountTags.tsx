/** Tags for an account that is not an ordinary one. */

import type { AdministeredAccount } from "./administrationCalls";
import { administration } from "./administrationTexts";
import classes from "../../ui/Tags.module.css";

export function AccountTags({ account }: { account: AdministeredAccount }) {
  const tags = [
    ...(account.active ? [] : [administration.deactivated]),
    ...(account.administrator ? [administration.administrator] : []),
    ...(account.second_factor ? [administration.secondFactor] : []),
  ];
  if (tags.length === 0) return null;
  return (
    <ul className={classes.tags} aria-label={administration.state}>
      {tags.map((tag) => (
        <li key={tag} className={classes.tag}>
          {tag}
        </li>
      ))}
    </ul>
  );
}
