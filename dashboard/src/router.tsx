/** Every page on one screen. Pages load when they are first opened. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { environmentsQuery } from "./api/environments";
import { permissionsQuery } from "./api/members";
import { projectQuery } from "./api/projects";
import { providersQuery } from "./api/singleSignOn";
import { AccountLayout } from "./components/AccountLayout";
import { PageSkeleton } from "./components/PageSkeleton";
import { NotFound, NotFoundAnywhere, ProblemPage } from "./components/ProblemPage";
import { ProjectFrame } from "./components/ProjectFrame";
import { Shell } from "./components/Shell";
import { lastEnvironment } from "./lib/lastEnvironment";
import { INVITATION_PATH, RESET_PATH } from "./lib/linkToken";
import { CALLBACK_PATH } from "./lib/providerAnswer";
import { safeNext, toFlagPage, toFlagsSearch, toHistorySearch, toListSearch } from "./lib/search";
import { currentSession, sessionEnding } from "./lib/session";

interface Context {
  readonly cache: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotFoundAnywhere });

const account = createRoute({ getParentRoute: () => root, id: "account", component: AccountLayout });

const entrySearch = (search: Record<string, unknown>) => ({
  ...(typeof search.next === "string" && { next: search.next }),
  ...(search.expired === true && { expired: true as const }),
});

function leaveIfSignedIn({ search }: { search: { next?: string } }) {
  if (currentSession()) throw redirect({ href: safeNext(search.next), replace: true });
}

/** The pages to enter by wait for the providers, so that nothing moves when they are known. They work without them. */
const awaitProviders = ({ context: { cache } }: { context: Context }) =>
  cache.query({ ...providersQuery, staleTime: "static" }).catch(() => []);

const signIn = createRoute({
  getParentRoute: () => account,
  path: "/sign-in",
  validateSearch: entrySearch,
  beforeLoad: leaveIfSignedIn,
  loader: awaitProviders,
  component: lazyRouteComponent(() => import("./routes/SignIn"), "SignIn"),
});
const register = createRoute({
  getParentRoute: () => account,
  path: "/register",
  validateSearch: entrySearch,
  beforeLoad: leaveIfSignedIn,
  loader: awaitProviders,
  component: lazyRouteComponent(() => import("./routes/Register"), "Register"),
});
const forgotPassword = createRoute({
  getParentRoute: () => account,
  path: "/forgot-password",
  component: lazyRouteComponent(() => import("./routes/ForgotPassword"), "ForgotPassword"),
});
const resetPassword = createRoute({
  getParentRoute: () => account,
  path: RESET_PATH,
  component: lazyRouteComponent(() => import("./routes/ResetPassword"), "ResetPassword"),
});
const invitation = createRoute({
  getParentRoute: () => account,
  path: INVITATION_PATH,
  loader: awaitProviders,
  component: lazyRouteComponent(() => import("./routes/Invitation"), "Invitation"),
});

const providerSignIn = createRoute({
  getParentRoute: () => account,
  path: CALLBACK_PATH,
  component: lazyRouteComponent(() => import("./routes/ProviderSignIn"), "ProviderSignIn"),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  beforeLoad: ({ location }) => {
    if (currentSession()) return;
    const next = location.href === "/" ? {} : { next: location.href };
    throw redirect({
      to: "/sign-in",
      search: { ...next, ...(sessionEnding() === "expired" && { expired: true as const }) },
      replace: true,
    });
  },
});
const ownAccount = createRoute({
  getParentRoute: () => signedIn,
  path: "/account",
  validateSearch: (search: Record<string, unknown>) => (typeof search.next === "string" ? { next: search.next } : {}),
  component: lazyRouteComponent(() => import("./routes/Account"), "Account"),
});
const ownTokens = createRoute({
  getParentRoute: () => signedIn,
  path: "/account/tokens",
  component: lazyRouteComponent(() => import("./routes/Tokens"), "OwnTokens"),
});
const admin = createRoute({
  getParentRoute: () => signedIn,
  path: "/admin",
  component: lazyRouteComponent(() => import("./routes/admin/Admin"), "Admin"),
});
const adminHome = createRoute({
  getParentRoute: () => admin,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/admin/accounts", replace: true });
  },
});
const adminAccounts = createRoute({
  getParentRoute: () => admin,
  path: "/accounts",
  validateSearch: toListSearch,
  component: lazyRouteComponent(() => import("./routes/admin/Accounts"), "Accounts"),
});
const adminAccount = createRoute({
  getParentRoute: () => admin,
  path: "/accounts/$accountId",
  component: lazyRouteComponent(() => import("./routes/admin/AccountPage"), "AccountPage"),
});
const adminProjects = createRoute({
  getParentRoute: () => admin,
  path: "/projects",
  validateSearch: toListSearch,
  component: lazyRouteComponent(() => import("./routes/admin/AllProjects"), "AllProjects"),
});
const adminInstance = createRoute({
  getParentRoute: () => admin,
  path: "/instance",
  component: lazyRouteComponent(() => import("./routes/admin/Instance"), "Instance"),
});
const adminSettings = createRoute({
  getParentRoute: () => admin,
  path: "/settings",
  component: lazyRouteComponent(() => import("./routes/admin/InstanceSettings"), "InstanceSettings"),
});
const adminChanges = createRoute({
  getParentRoute: () => admin,
  path: "/changes",
  component: lazyRouteComponent(() => import("./routes/admin/InstanceChanges"), "InstanceChanges"),
});
const projects = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  component: lazyRouteComponent(() => import("./routes/Projects"), "Projects"),
});
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
  component: lazyRouteComponent(() => import("./routes/Settings"), "Settings"),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: "/segments",
  component: lazyRouteComponent(() => import("./routes/Segments"), "Segments"),
});
const members = createRoute({
  getParentRoute: () => project,
  path: "/members",
  component: lazyRouteComponent(() => import("./routes/Members"), "Members"),
});
const projectTokens = createRoute({
  getParentRoute: () => project,
  path: "/tokens",
  component: lazyRouteComponent(() => import("./routes/Tokens"), "ProjectTokens"),
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
  component: lazyRouteComponent(() => import("./routes/Flags"), "Flags"),
});
const flag = createRoute({
  getParentRoute: () => environment,
  path: "/flags/$flagId",
  validateSearch: toFlagPage,
  component: lazyRouteComponent(() => import("./routes/FlagPage"), "FlagPage"),
});
const history = createRoute({
  getParentRoute: () => environment,
  path: "/history",
  validateSearch: toHistorySearch,
  component: lazyRouteComponent(() => import("./routes/History"), "History"),
});
const changes = createRoute({
  getParentRoute: () => environment,
  path: "/changes",
  component: lazyRouteComponent(() => import("./routes/Changes"), "Changes"),
});

const tree = root.addChildren([
  account.addChildren([signIn, register, forgotPassword, resetPassword, invitation, providerSignIn]),
  signedIn.addChildren([
    ownAccount,
    ownTokens,
    admin.addChildren([
      adminHome,
      adminAccounts,
      adminAccount,
      adminProjects,
      adminInstance,
      adminSettings,
      adminChanges,
    ]),
    projects,
    project.addChildren([
      projectHome,
      settings,
      segments,
      members,
      projectTokens,
      environment.addChildren([flags, flag, history, changes]),
    ]),
  ]),
]);

export function createAppRouter(cache: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { cache },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0, // the query cache decides what is fresh
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ProblemPage,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
