/** The pages for administrators. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { toListSearch } from "../lib/search";
import { signedIn } from "./frames";

const admin = createRoute({
  getParentRoute: () => signedIn,
  path: "/admin",
  component: lazyRouteComponent(() => import("../routes/admin/Admin"), "Admin"),
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
  component: lazyRouteComponent(() => import("../routes/admin/Accounts"), "Accounts"),
});
const adminAccount = createRoute({
  getParentRoute: () => admin,
  path: "/accounts/$accountId",
  component: lazyRouteComponent(() => import("../routes/admin/AccountPage"), "AccountPage"),
});
const adminProjects = createRoute({
  getParentRoute: () => admin,
  path: "/projects",
  validateSearch: toListSearch,
  component: lazyRouteComponent(() => import("../routes/admin/AllProjects"), "AllProjects"),
});
const adminInstance = createRoute({
  getParentRoute: () => admin,
  path: "/instance",
  component: lazyRouteComponent(() => import("../routes/admin/Instance"), "Instance"),
});
const adminSettings = createRoute({
  getParentRoute: () => admin,
  path: "/settings",
  component: lazyRouteComponent(() => import("../routes/admin/InstanceSettings"), "InstanceSettings"),
});
const adminChanges = createRoute({
  getParentRoute: () => admin,
  path: "/changes",
  component: lazyRouteComponent(() => import("../routes/admin/InstanceChanges"), "InstanceChanges"),
});

export const adminRoutes = admin.addChildren([
  adminHome,
  adminAccounts,
  adminAccount,
  adminProjects,
  adminInstance,
  adminSettings,
  adminChanges,
]);
