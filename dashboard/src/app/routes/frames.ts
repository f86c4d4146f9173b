/** The frames of all pages: those before sign-in, and those that need a session. */

import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { AccountLayout } from "../../features/identity/AccountLayout";
import { NotFoundAnywhere } from "../../ui/ProblemPage";
import { Shell } from "../shell/Shell";
import { currentSession, type Ending, sessionEnding } from "../../api/session";

export interface Context {
  readonly cache: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotFoundAnywhere });

export const account = createRoute({ getParentRoute: () => root, id: "account", component: AccountLayout });

const reasonShown = (ending: Ending | null) => ({
  ...(ending === "expired" && { expired: true as const }),
  ...(ending === "elsewhere" && { elsewhere: true as const }),
});

/** Leads to the sign-in, and from there back to the page. */
export function requireSession({ location }: { location: { href: string } }) {
  if (currentSession()) return;
  const next = location.href === "/" ? {} : { next: location.href };
  throw redirect({
    to: "/sign-in",
    search: { ...next, ...reasonShown(sessionEnding()) },
    replace: true,
  });
}

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  beforeLoad: requireSession,
});
