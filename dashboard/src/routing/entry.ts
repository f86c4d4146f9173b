/** The pages before sign-in, and those that the links in mails open. */

import { createRoute, redirect } from "@tanstack/react-router";
import { providersQuery } from "../api/singleSignOn";
import { INVITATION_PATH, RESET_PATH, UNSUBSCRIBE_PATH, VERIFY_EMAIL_PATH } from "../lib/signIn/linkToken";
import { CALLBACK_PATH } from "../lib/signIn/providerAnswer";
import { nextHref } from "../lib/search";
import { currentSession } from "../lib/signIn/session";
import { account, type Context, requireSession } from "./frames";
import { lazyPage } from "./lazyPage";

const entrySearch = (search: Record<string, unknown>) => ({
  ...(typeof search.next === "string" && { next: search.next }),
  ...(search.expired === true && { expired: true as const }),
  ...(search.elsewhere === true && { elsewhere: true as const }),
});

function leaveIfSignedIn({ search }: { search: { next?: string } }) {
  if (currentSession()) throw redirect({ href: nextHref(search.next), replace: true });
}

/** The pages before sign-in wait for the providers, so that nothing moves when they arrive. They work without them. */
const awaitProviders = ({ context: { cache } }: { context: Context }) =>
  cache.query({ ...providersQuery, staleTime: "static" }).catch(() => []);

const signIn = createRoute({
  getParentRoute: () => account,
  path: "/sign-in",
  validateSearch: entrySearch,
  beforeLoad: leaveIfSignedIn,
  loader: awaitProviders,
  component: lazyPage(() => import("../routes/SignIn"), "SignIn"),
});
const register = createRoute({
  getParentRoute: () => account,
  path: "/register",
  validateSearch: entrySearch,
  beforeLoad: leaveIfSignedIn,
  loader: awaitProviders,
  component: lazyPage(() => import("../routes/Register"), "Register"),
});
const forgotPassword = createRoute({
  getParentRoute: () => account,
  path: "/forgot-password",
  component: lazyPage(() => import("../routes/ForgotPassword"), "ForgotPassword"),
});
const resetPassword = createRoute({
  getParentRoute: () => account,
  path: RESET_PATH,
  component: lazyPage(() => import("../routes/ResetPassword"), "ResetPassword"),
});
const invitation = createRoute({
  getParentRoute: () => account,
  path: INVITATION_PATH,
  loader: awaitProviders,
  component: lazyPage(() => import("../routes/Invitation"), "Invitation"),
});
const unsubscribe = createRoute({
  getParentRoute: () => account,
  path: UNSUBSCRIBE_PATH,
  component: lazyPage(() => import("../routes/Unsubscribe"), "Unsubscribe"),
});
const verifyEmail = createRoute({
  getParentRoute: () => account,
  path: VERIFY_EMAIL_PATH,
  beforeLoad: requireSession, // the link works in a session of its account only
  component: lazyPage(() => import("../routes/VerifyEmail"), "VerifyEmail"),
});
const providerSignIn = createRoute({
  getParentRoute: () => account,
  path: CALLBACK_PATH,
  component: lazyPage(() => import("../routes/ProviderSignIn"), "ProviderSignIn"),
});

export const entryRoutes = account.addChildren([
  signIn,
  register,
  forgotPassword,
  resetPassword,
  invitation,
  unsubscribe,
  verifyEmail,
  providerSignIn,
]);
