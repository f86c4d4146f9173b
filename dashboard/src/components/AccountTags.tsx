/** What distinguishes an account from an ordinary one, as chips. */

import type { AdministeredAccount } from "../api/administration";
import { t } from "../texts";
import classes from "./Tags.module.css";

export function AccountTags({ account }: { account: AdministeredAccount }) {
  const tags = [
    ...(account.active ? [] : [t.administration.deactivated]),
    ...(account.administrator ? [t.administration.administrator] : []),
    ...(account.second_factor ? [t.administration.secondFactor] : []),
  ];
  if (tags.length === 0) return null;
  return (
    <ul className={classes.tags} aria-label={t.administration.state}>
      {tags.map((tag) => (
        <li key={tag} className={classes.tag}>
          {tag}
        </li>
      ))}
    </ul>
  );
}
