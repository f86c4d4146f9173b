/** The pages of a project and of its environments. */

import { createRoute, notFound, type SearchSchemaInput } from "@tanstack/react-router";
import { environmentsQuery } from "../../api/environments";
import { flagQuery, flagsQuery } from "../../features/flags/flagsCalls";
import { projectInFullQuery } from "../../api/projects";
import { rulesByFlagQuery, rulesQuery } from "../../features/flags/rulesCalls";
import { NotFound } from "../../ui/ProblemPage";
import { ProjectFrame } from "../ProjectFrame";
import type { ChangesSearch } from "../../api/changesFilter";
import type { CleanupSearch } from "../../features/cleanup/cleanup";
import type { CompareSearch } from "../../features/copying/comparisons";
import type { PersonSearch } from "../../features/people/person";
import type { PlaygroundSearch } from "../../features/playground/grid";
import type { ProjectFlagsSearch } from "../../features/flagList/projectFlagTable";
import type { RequestMetricsSearch } from "../../features/requestMetrics/requestMetricsSearch";
import { toFlagPage, toFlagsSearch, toHistorySearch } from "../../ui/search";
import { signedIn } from "./frames";
import { lazyPage } from "./lazyPage";

/** A search that the page parses with its own code. Types check what links give, but people can type anything. */
type Unread = Readonly<Record<string, unknown>>;
type Given<Search> = Search & SearchSchemaInput;

const project = createRoute({
  getParentRoute: () => signedIn,
  path: "/projects/$projectId",
  loader: ({ params, context: { cache } }) =>
    cache.query({ ...projectInFullQuery(params.projectId), staleTime: "static" }),
  component: ProjectFrame,
});
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyPage(() => import("../../features/overview/OverviewPage"), "OverviewPage"),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyPage(() => import("../../features/projects/SettingsPage"), "SettingsPage"),
});
const erasures = createRoute({
  getParentRoute: () => project,
  path: "/erasures",
  component: lazyPage(() => import("../../features/people/ErasuresPage"), "ErasuresPage"),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: "/segments",
  component: lazyPage(() => import("../../features/segments/SegmentsPage"), "SegmentsPage"),
});
const metrics = createRoute({
  getParentRoute: () => project,
  path: "/metrics",
  component: lazyPage(() => import("../../features/metrics/MetricsPage"), "MetricsPage"),
});
const projectFlags = createRoute({
  getParentRoute: () => project,
  path: "/flags",
  validateSearch: (raw: Given<ProjectFlagsSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/flagList/ProjectFlagsPage"), "ProjectFlagsPage"),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  validateSearch: (raw: Given<ChangesSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/audit/AuditPage"), "AuditPage"),
});
const user = createRoute({
  getParentRoute: () => project,
  path: "/user",
  validateSearch: (raw: Given<PersonSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/people/PersonPage"), "PersonPage"),
});
const compare = createRoute({
  getParentRoute: () => project,
  path: "/compare",
  validateSearch: (raw: Given<CompareSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/copying/ComparePage"), "ComparePage"),
});
const playground = createRoute({
  getParentRoute: () => project,
  path: "/playground",
  validateSearch: (raw: Given<PlaygroundSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/playground/PlaygroundPage"), "PlaygroundPage"),
});
const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyPage(() => import("../../features/projects/MembersPage"), "MembersPage"),
});
const projectTokens = createRoute({
  getParentRoute: () => project,
  path: "/tokens",
  component: lazyPage(() => import("../../features/credentials/TokensPage"), "ProjectTokens"),
});
const sdkKeys = createRoute({
  getParentRoute: () => project,
  path: "/sdk-keys",
  component: lazyPage(() => import("../../features/credentials/SdkKeysPage"), "SdkKeysPage"),
});
const webhooks = createRoute({
  getParentRoute: () => project,
  path: "/webhooks",
  component: lazyPage(() => import("../../features/webhooks/WebhooksPage"), "WebhooksPage"),
});
const environment = createRoute({
  getParentRoute: () => project,
  path: "/environments/$environmentId",
  loader: async ({ params, context: { cache } }) => {
    const environments = await cache.query({ ...environmentsQuery(params.projectId), staleTime: "static" });
    if (!environments.some((each) => each.id === params.environmentId)) throw notFound();
  },
  notFoundComponent: NotFound,
});
// A page of flags requests them while its code loads.
const pathOf = (params: { projectId: string; environmentId: string }) => ({
  project_id: params.projectId,
  env_id: params.environmentId,
});
const askFor = (...calls: Promise<unknown>[]) => void Promise.allSettled(calls); // the page reports failures
const flags = createRoute({
  getParentRoute: () => environment,
  path: "/",
  validateSearch: toFlagsSearch,
  loader: ({ params, preload, context: { cache } }) => {
    if (preload) return;
    const path = pathOf(params);
    askFor(cache.query(flagsQuery(path)), cache.query(rulesByFlagQuery(path)));
  },
  component: lazyPage(() => import("../../features/flagList/FlagsPage"), "FlagsPage"),
});
const archivedFlags = createRoute({
  getParentRoute: () => environment,
  path: "/archived",
  component: lazyPage(() => import("../../features/archive/ArchivedFlagsPage"), "ArchivedFlagsPage"),
});
const flag = createRoute({
  getParentRoute: () => environment,
  path: "/flags/$flagId",
  validateSearch: toFlagPage,
  loader: ({ params, preload, context: { cache } }) => {
    if (preload) return; // a link that is only pointed at
    const path = { ...pathOf(params), flag_id: params.flagId };
    askFor(cache.query(flagQuery(path)), cache.query(rulesQuery(path)));
  },
  component: lazyPage(() => import("../../features/flagPage/FlagPage"), "FlagPage"),
});
const flagByKey = createRoute({
  getParentRoute: () => environment,
  path: "/flags/by-key/$flagKey",
  validateSearch: toFlagPage,
  component: lazyPage(() => import("../../features/flagPage/FlagByKeyPage"), "FlagByKeyPage"),
});
const history = createRoute({
  getParentRoute: () => environment,
  path: "/history",
  validateSearch: toHistorySearch,
  component: lazyPage(() => import("../../features/history/HistoryPage"), "HistoryPage"),
});
const changes = createRoute({
  getParentRoute: () => environment,
  path: "/changes",
  validateSearch: (raw: Given<ChangesSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/audit/ChangesPage"), "ChangesPage"),
});
const releases = createRoute({
  getParentRoute: () => environment,
  path: "/releases",
  component: lazyPage(() => import("../../features/releases/ReleasesPage"), "ReleasesPage"),
});
const applications = createRoute({
  getParentRoute: () => environment,
  path: "/applications",
  validateSearch: (raw: Given<RequestMetricsSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/applications/ApplicationsPage"), "ApplicationsPage"),
});

const cleanup = createRoute({
  getParentRoute: () => environment,
  path: "/cleanup",
  validateSearch: (raw: Given<CleanupSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/cleanup/CleanupPage"), "CleanupPage"),
});
const recorded = createRoute({
  getParentRoute: () => environment,
  path: "/evaluations/$evaluationId",
  validateSearch: (raw: Given<Pick<PersonSearch, "flag">>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../../features/people/RecordedAnswerPage"), "RecordedAnswerPage"),
});

export const projectRoutes = project.addChildren([
  projectHome,
  settings,
  erasures,
  projectFlags,
  segments,
  metrics,
  audit,
  user,
  compare,
  playground,
  members,
  projectTokens,
  sdkKeys,
  webhooks,
  environment.addChildren([
    flags,
    archivedFlags,
    flag,
    flagByKey,
    history,
    recorded,
    changes,
    releases,
    applications,
    cleanup,
  ]),
]);
