/** The pages of a project and of its environments. */

import { createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import { environmentsQuery } from "../api/environments";
import { permissionsQuery } from "../api/members";
import { projectQuery } from "../api/projects";
import { NotFound } from "../components/ProblemPage";
import { ProjectFrame } from "../components/ProjectFrame";
import { lastEnvironment } from "../lib/lastEnvironment";
import { toFlagPage, toFlagsSearch, toHistorySearch } from "../lib/search";
import { signedIn } from "./frames";

const project = createRoute({
  getParentRoute: () => signedIn,
  path: "/projects/$projectId",
  loader: ({ params, context: { cache } }) =>
    Promise.all([
      cache.query({ ...projectQuery(params.projectId), staleTime: "static" }),
      cache.query({ ...environmentsQuery(params.projectId), staleTime: "static" }),
      cache.query({ ...permissionsQuery(params.projectId), staleTime: "static" }),
    ]),
  component: ProjectFrame,
});
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: async ({ params, context: { cache } }) => {
    const environments = await cache.query({ ...environmentsQuery(params.projectId), staleTime: "static" });
    const last = lastEnvironment(params.projectId);
    const opened = environments.find((each) => each.id === last) ?? environments[0];
    if (!opened) throw redirect({ to: "/projects/$projectId/settings", params, replace: true });
    throw redirect({
      to: "/projects/$projectId/environments/$environmentId",
      params: { ...params, environmentId: opened.id },
      replace: true,
    });
  },
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("../routes/Settings"), "Settings"),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: "/segments",
  component: lazyRouteComponent(() => import("../routes/Segments"), "Segments"),
});
const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyRouteComponent(() => import("../routes/Members"), "Members"),
});
const projectTokens = createRoute({
  getParentRoute: () => project,
  path: "/tokens",
  component: lazyRouteComponent(() => import("../routes/Tokens"), "ProjectTokens"),
});
const sdkKeys = createRoute({
  getParentRoute: () => project,
  path: "/sdk-keys",
  component: lazyRouteComponent(() => import("../routes/SdkKeys"), "SdkKeys"),
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
const flags = createRoute({
  getParentRoute: () => environment,
  path: "/",
  validateSearch: toFlagsSearch,
  component: lazyRouteComponent(() => import("../routes/Flags"), "Flags"),
});
const flag = createRoute({
  getParentRoute: () => environment,
  path: "/flags/$flagId",
  validateSearch: toFlagPage,
  component: lazyRouteComponent(() => import("../routes/FlagPage"), "FlagPage"),
});
const history = createRoute({
  getParentRoute: () => environment,
  path: "/history",
  validateSearch: toHistorySearch,
  component: lazyRouteComponent(() => import("../routes/History"), "History"),
});
const changes = createRoute({
  getParentRoute: () => environment,
  path: "/changes",
  component: lazyRouteComponent(() => import("../routes/Changes"), "Changes"),
});
const applications = createRoute({
  getParentRoute: () => environment,
  path: "/applications",
  component: lazyRouteComponent(() => import("../routes/Applications"), "Applications"),
});

export const projectRoutes = project.addChildren([
  projectHome,
  settings,
  segments,
  members,
  projectTokens,
  sdkKeys,
  environment.addChildren([flags, flag, history, changes, applications]),
]);
