/** The pages of each level, in the order of the navigation. The palette offers the same pages. */

import { t } from "../texts";

export const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";
export const PROJECT = "/projects/$projectId";

export const OF_ENVIRONMENT = [
  [ENVIRONMENT, t.shell.flags],
  [`${ENVIRONMENT}/releases`, t.shell.releases],
  [`${ENVIRONMENT}/history`, t.shell.history],
  [`${ENVIRONMENT}/changes`, t.shell.changes],
  [`${ENVIRONMENT}/applications`, t.shell.applications],
  [`${ENVIRONMENT}/cleanup`, t.shell.cleanup],
] as const;

/** The pages for daily work. */
export const OF_PROJECT = [
  [PROJECT, t.shell.overview],
  [`${PROJECT}/flags`, t.shell.allEnvironments],
  [`${PROJECT}/compare`, t.shell.compare],
  [`${PROJECT}/segments`, t.shell.segments],
  [`${PROJECT}/metrics`, t.shell.metrics],
  [`${PROJECT}/user`, t.shell.users],
  [`${PROJECT}/playground`, t.shell.playground],
] as const;

/** The pages of members, keys and settings. */
export const PROJECT_SETTINGS = [
  [`${PROJECT}/members`, t.shell.members],
  [`${PROJECT}/sdk-keys`, t.shell.sdkKeys],
  [`${PROJECT}/tokens`, t.shell.tokens],
  [`${PROJECT}/webhooks`, t.shell.webhooks],
  [`${PROJECT}/audit`, t.shell.audit],
  [`${PROJECT}/settings`, t.shell.settings],
] as const;

export const OF_INSTANCE = [
  ["/", t.shell.allProjects],
  ["/account", t.accounts.heading],
  ["/account/tokens", t.shell.ownTokens],
] as const;

export const OF_ADMINISTRATORS = [
  ["/admin/accounts", t.adminPages.accounts],
  ["/admin/projects", t.adminPages.projects],
  ["/admin/instance", t.adminPages.instance],
  ["/admin/instances", t.adminPages.instances],
  ["/admin/settings", t.adminPages.settings],
  ["/admin/webhooks", t.adminPages.webhooks],
  ["/admin/changes", t.adminPages.changes],
] as const;
