/** The pages of a project and of its environments. */

import { createRoute, notFound, type SearchSchemaInput } from "@tanstack/react-router";
import { environmentsQuery } from "../api/environments";
import { flagQuery, flagsQuery } from "../api/flags";
import { projectInFullQuery } from "../api/projects";
import { rulesByFlagQuery, rulesQuery } from "../api/rules";
import { NotFound } from "../components/shared/ProblemPage";
import { ProjectFrame } from "../components/projects/ProjectFrame";
import type { ChangesSearch } from "../lib/changes/changesFilter";
import type { CleanupSearch } from "../components/cleanup/cleanup";
import type { CompareSearch } from "../components/comparisons/comparisons";
import type { PersonSearch } from "../lib/person";
import type { PlaygroundSearch } from "../components/playground/grid";
import type { ProjectFlagsSearch } from "../components/flagLists/projectFlagTable";
import type { RequestMetricsSearch } from "../components/requestMetrics/requestMetricsSearch";
import { toFlagPage, toFlagsSearch, toHistorySearch } from "../lib/search";
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
  component: lazyPage(() => import("../routes/Overview"), "Overview"),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyPage(() => import("../routes/Settings"), "Settings"),
});
const erasures = createRoute({
  getParentRoute: () => project,
  path: "/erasures",
  component: lazyPage(() => import("../routes/Erasures"), "Erasures"),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: "/segments",
  component: lazyPage(() => import("../routes/Segments"), "Segments"),
});
const metrics = createRoute({
  getParentRoute: () => project,
  path: "/metrics",
  component: lazyPage(() => import("../routes/Metrics"), "Metrics"),
});
const projectFlags = createRoute({
  getParentRoute: () => project,
  path: "/flags",
  validateSearch: (raw: Given<ProjectFlagsSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/ProjectFlags"), "ProjectFlags"),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: "/audit",
  validateSearch: (raw: Given<ChangesSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Audit"), "Audit"),
});
const user = createRoute({
  getParentRoute: () => project,
  path: "/user",
  validateSearch: (raw: Given<PersonSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Person"), "Person"),
});
const compare = createRoute({
  getParentRoute: () => project,
  path: "/compare",
  validateSearch: (raw: Given<CompareSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Compare"), "Compare"),
});
const playground = createRoute({
  getParentRoute: () => project,
  path: "/playground",
  validateSearch: (raw: Given<PlaygroundSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Playground"), "Playground"),
});
const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyPage(() => import("../routes/Members"), "Members"),
});
const projectTokens = createRoute({
  getParentRoute: () => project,
  path: "/tokens",
  component: lazyPage(() => import("../routes/Tokens"), "ProjectTokens"),
});
const sdkKeys = createRoute({
  getParentRoute: () => project,
  path: "/sdk-keys",
  component: lazyPage(() => import("../routes/SdkKeys"), "SdkKeys"),
});
const webhooks = createRoute({
  getParentRoute: () => project,
  path: "/webhooks",
  component: lazyPage(() => import("../routes/Webhooks"), "Webhooks"),
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
  component: lazyPage(() => import("../routes/Flags"), "Flags"),
});
const archivedFlags = createRoute({
  getParentRoute: () => environment,
  path: "/archived",
  component: lazyPage(() => import("../routes/ArchivedFlags"), "ArchivedFlags"),
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
  component: lazyPage(() => import("../routes/FlagPage"), "FlagPage"),
});
const flagByKey = createRoute({
  getParentRoute: () => environment,
  path: "/flags/by-key/$flagKey",
  validateSearch: toFlagPage,
  component: lazyPage(() => import("../routes/FlagByKey"), "FlagByKey"),
});
const history = createRoute({
  getParentRoute: () => environment,
  path: "/history",
  validateSearch: toHistorySearch,
  component: lazyPage(() => import("../routes/History"), "History"),
});
const changes = createRoute({
  getParentRoute: () => environment,
  path: "/changes",
  validateSearch: (raw: Given<ChangesSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Changes"), "Changes"),
});
const releases = createRoute({
  getParentRoute: () => environment,
  path: "/releases",
  component: lazyPage(() => import("../routes/Releases"), "Releases"),
});
const applications = createRoute({
  getParentRoute: () => environment,
  path: "/applications",
  validateSearch: (raw: Given<RequestMetricsSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Applications"), "Applications"),
});

const cleanup = createRoute({
  getParentRoute: () => environment,
  path: "/cleanup",
  validateSearch: (raw: Given<CleanupSearch>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/Cleanup"), "Cleanup"),
});
const recorded = createRoute({
  getParentRoute: () => environment,
  path: "/evaluations/$evaluationId",
  validateSearch: (raw: Given<Pick<PersonSearch, "flag">>): Unread => ({ ...raw }),
  component: lazyPage(() => import("../routes/RecordedAnswer"), "RecordedAnswer"),
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
