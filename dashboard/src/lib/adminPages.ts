/** The pages for administrators, in the order of their tabs. */

import { t } from "../texts";

export const ADMIN_PAGES = [
  { to: "/admin/accounts", name: t.administration.accounts },
  { to: "/admin/projects", name: t.administration.projects },
  { to: "/admin/instance", name: t.administration.instance },
  { to: "/admin/settings", name: t.administration.settings },
  { to: "/admin/changes", name: t.administration.changes },
] as const;
