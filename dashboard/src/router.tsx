/** Every page, those of single areas in routing/. Pages load when they are first opened. */

import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, parseSearchWith, stringifySearchWith } from "@tanstack/react-router";
import { PageSkeleton } from "./components/shared/PageSkeleton";
import { ProblemPage } from "./components/shared/ProblemPage";
import { adminRoutes } from "./routing/admin";
import { entryRoutes } from "./routing/entry";
import { root, signedIn } from "./routing/frames";
import { readSearchValue } from "./lib/json";
import { pathPrefix } from "./lib/server";
import { projectRoutes } from "./routing/project";
import { lazyPage } from "./routing/lazyPage";

const projects = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  component: lazyPage(() => import("./routes/Projects"), "Projects"),
});
const ownAccount = createRoute({
  getParentRoute: () => signedIn,
  path: "/account",
  validateSearch: (search: Record<string, unknown>) => (typeof search.next === "string" ? { next: search.next } : {}),
  component: lazyPage(() => import("./routes/Account"), "Account"),
});
const ownTokens = createRoute({
  getParentRoute: () => signedIn,
  path: "/account/tokens",
  component: lazyPage(() => import("./routes/Tokens"), "OwnTokens"),
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
