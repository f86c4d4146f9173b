/** The pages for administrators. */

import { createRoute, redirect } from "@tanstack/react-router";
import { toListSearch } from "../lib/search";
import { signedIn } from "./frames";
import { lazyPage } from "./lazyPage";

const admin = createRoute({
  getParentRoute: () => signedIn,
  path: "/admin",
  component: lazyPage(() => import("../routes/admin/Admin"), "Admin"),
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
  component: lazyPage(() => import("../routes/admin/Accounts"), "Accounts"),
});
const adminAccount = createRoute({
  getParentRoute: () => admin,
  path: "/accounts/$accountId",
  component: lazyPage(() => import("../routes/admin/AccountPage"), "AccountPage"),
});
const adminProjects = createRoute({
  getParentRoute: () => admin,
  path: "/projects",
  validateSearch: toListSearch,
  component: lazyPage(() => import("../routes/admin/AllProjects"), "AllProjects"),
});
const adminInstance = createRoute({
  getParentRoute: () => admin,
  path: "/instance",
  component: lazyPage(() => import("../routes/admin/Instance"), "Instance"),
});
const adminInstances = createRoute({
  getParentRoute: () => admin,
  path: "/instances",
  component: lazyPage(() => import("../routes/admin/ServingInstances"), "ServingInstances"),
});
const adminSettings = createRoute({
  getParentRoute: () => admin,
  path: "/settings",
  component: lazyPage(() => import("../routes/admin/InstanceSettings"), "InstanceSettings"),
});
const adminWebhooks = createRoute({
  getParentRoute: () => admin,
  path: "/webhooks",
  component: lazyPage(() => import("../routes/admin/InstanceWebhooks"), "InstanceWebhooks"),
});
const adminChanges = createRoute({
  getParentRoute: () => admin,
  path: "/changes",
  component: lazyPage(() => import("../routes/admin/InstanceChanges"), "InstanceChanges"),
});

export const adminRoutes = admin.addChildren([
  adminHome,
  adminAccounts,
  adminAccount,
  adminProjects,
  adminInstance,
  adminInstances,
  adminSettings,
  adminWebhooks,
  adminChanges,
]);
