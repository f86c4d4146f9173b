/** The pages for administrators. */

import { createRoute, redirect } from "@tanstack/react-router";
import { toListSearch } from "../../ui/search";
import { signedIn } from "./frames";
import { lazyPage } from "./lazyPage";

const admin = createRoute({
  getParentRoute: () => signedIn,
  path: "/admin",
  component: lazyPage(() => import("../../features/administration/AdminPage"), "AdminPage"),
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
  component: lazyPage(() => import("../../features/administration/AccountsPage"), "AccountsPage"),
});
const adminAccount = createRoute({
  getParentRoute: () => admin,
  path: "/accounts/$accountId",
  component: lazyPage(() => import("../../features/administration/AccountPage"), "AccountPage"),
});
const adminProjects = createRoute({
  getParentRoute: () => admin,
  path: "/projects",
  validateSearch: toListSearch,
  component: lazyPage(() => import("../../features/administration/AllProjectsPage"), "AllProjectsPage"),
});
const adminInstance = createRoute({
  getParentRoute: () => admin,
  path: "/instance",
  component: lazyPage(() => import("../../features/administration/InstancePage"), "InstancePage"),
});
const adminInstances = createRoute({
  getParentRoute: () => admin,
  path: "/instances",
  component: lazyPage(() => import("../../features/administration/ServingInstancesPage"), "ServingInstancesPage"),
});
const adminSettings = createRoute({
  getParentRoute: () => admin,
  path: "/settings",
  component: lazyPage(() => import("../../features/administration/InstanceSettingsPage"), "InstanceSettingsPage"),
});
const adminWebhooks = createRoute({
  getParentRoute: () => admin,
  path: "/webhooks",
  component: lazyPage(() => import("../../features/administration/InstanceWebhooksPage"), "InstanceWebhooksPage"),
});
const adminChanges = createRoute({
  getParentRoute: () => admin,
  path: "/changes",
  component: lazyPage(() => import("../../features/administration/InstanceChangesPage"), "InstanceChangesPage"),
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
