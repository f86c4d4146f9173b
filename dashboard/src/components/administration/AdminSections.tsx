/** The pages for administrators, as tabs that are links. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ownAccountQuery } from "../../api/ownAccount";
import { ADMIN_PAGES } from "../../lib/adminPages";
import { t } from "../../texts";
import { SectionLinks } from "../shell/SectionLinks";
import classes from "../shell/Sections.module.css";

export function AdminSections() {
  const { data: own } = useQuery(ownAccountQuery);
  if (!own?.administrator) return null;
  return (
    <SectionLinks label={t.adminPages.heading}>
      {ADMIN_PAGES.map(({ to, name }) => (
        <Link key={to} to={to} className={classes.section} activeProps={{ "aria-current": "page" }}>
          {name}
        </Link>
      ))}
    </SectionLinks>
  );
}
