/** Every page, those of single areas in routing/. Pages load when they are first opened. */

import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, parseSearchWith, stringifySearchWith } from "@tanstack/react-router";
import { PageSkeleton } from "../ui/PageSkeleton";
import { ProblemPage } from "../ui/ProblemPage";
import { adminRoutes } from "./routes/admin";
import { entryRoutes } from "./routes/entry";
import { root, signedIn } from "./routes/frames";
import { readSearchValue } from "../api/json";
import { pathPrefix } from "../api/server";
import { projectRoutes } from "./routes/project";
import { lazyPage } from "./routes/lazyPage";

const projects = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  component: lazyPage(() => import("../features/projects/ProjectsPage"), "ProjectsPage"),
});
const ownAccount = createRoute({
  getParentRoute: () => signedIn,
  path: "/account",
  validateSearch: (search: Record<string, unknown>) => (typeof search.next === "string" ? { next: search.next } : {}),
  component: lazyPage(() => import("../features/account/AccountPage"), "AccountPage"),
});
const ownTokens = createRoute({
  getParentRoute: () => signedIn,
  path: "/account/tokens",
  component: lazyPage(() => import("../features/credentials/TokensPage"), "OwnTokens"),
});

const tree = root.addChildren([
  entryRoutes,
  signedIn.addChildren([projects, ownAccount, ownTokens, adminRoutes, projectRoutes]),
]);

const SEARCH = {
  parseSearch: parseSearchWith(readSearchValue),
  stringifySearch: stringifySearchWith(JSON.stringify, readSearchValue),
};

export function createAppRouter(cache: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: pathPrefix() || "/",
    context: { cache },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0, // the query cache decides what is fresh
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ProblemPage,
    scrollRestoration: true,
    ...SEARCH,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
