/** The pages of each level, in the order of the navigation. The palette offers the same pages. */

import { adminPagesTexts } from "./adminPagesTexts";
import { shellTexts } from "./shellTexts";

export const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";
export const PROJECT = "/projects/$projectId";

export const OF_ENVIRONMENT = [
  [ENVIRONMENT, shellTexts.flags],
  [`${ENVIRONMENT}/releases`, shellTexts.releases],
  [`${ENVIRONMENT}/history`, shellTexts.history],
  [`${ENVIRONMENT}/changes`, shellTexts.changes],
  [`${ENVIRONMENT}/applications`, shellTexts.applications],
  [`${ENVIRONMENT}/cleanup`, shellTexts.cleanup],
] as const;

/** The pages for daily work. */
export const OF_PROJECT = [
  [PROJECT, shellTexts.overview],
  [`${PROJECT}/flags`, shellTexts.allEnvironments],
  [`${PROJECT}/compare`, shellTexts.compare],
  [`${PROJECT}/segments`, shellTexts.segments],
  [`${PROJECT}/metrics`, shellTexts.metrics],
  [`${PROJECT}/user`, shellTexts.users],
  [`${PROJECT}/playground`, shellTexts.playground],
] as const;

/** The pages of members, keys and settings. */
export const PROJECT_SETTINGS = [
  [`${PROJECT}/members`, shellTexts.members],
  [`${PROJECT}/sdk-keys`, shellTexts.sdkKeys],
  [`${PROJECT}/tokens`, shellTexts.tokens],
  [`${PROJECT}/webhooks`, shellTexts.webhooks],
  [`${PROJECT}/audit`, shellTexts.audit],
  [`${PROJECT}/settings`, shellTexts.settings],
] as const;

export const OF_INSTANCE = [
  ["/", shellTexts.allProjects],
  ["/account", shellTexts.ownAccount],
  ["/account/tokens", shellTexts.ownTokens],
] as const;

export const OF_ADMINISTRATORS = [
  ["/admin/accounts", adminPagesTexts.accounts],
  ["/admin/projects", adminPagesTexts.projects],
  ["/admin/instance", adminPagesTexts.instance],
  ["/admin/instances", adminPagesTexts.instances],
  ["/admin/settings", adminPagesTexts.settings],
  ["/admin/webhooks", adminPagesTexts.webhooks],
  ["/admin/changes", adminPagesTexts.changes],
] as const;
