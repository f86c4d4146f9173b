/** The pages for administrators, in the order of their tabs. */

import { t } from "../texts";

export const ADMIN_PAGES = [
  { to: "/admin/accounts", name: t.adminPages.accounts },
  { to: "/admin/projects", name: t.adminPages.projects },
  { to: "/admin/instance", name: t.adminPages.instance },
  { to: "/admin/instances", name: t.adminPages.instances },
  { to: "/admin/settings", name: t.adminPages.settings },
  { to: "/admin/webhooks", name: t.adminPages.webhooks },
  { to: "/admin/changes", name: t.adminPages.changes },
] as const;
