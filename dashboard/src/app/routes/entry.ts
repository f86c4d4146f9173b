/** The pages before sign-in, and those that the links in mails open. */

import { createRoute, redirect } from "@tanstack/react-router";
import { providersQuery } from "../../features/identity/singleSignOnCalls";
import { INVITATION_PATH, RESET_PATH, UNSUBSCRIBE_PATH, VERIFY_EMAIL_PATH } from "../../features/identity/linkToken";
import { CALLBACK_PATH } from "../../features/identity/providerAnswer";
import { nextHref } from "../../ui/search";
import { currentSession } from "../../api/session";
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
  component: lazyPage(() => import("../../features/identity/SignInPage"), "SignInPage"),
});
const register = createRoute({
  getParentRoute: () => account,
  path: "/register",
  validateSearch: entrySearch,
  beforeLoad: leaveIfSignedIn,
  loader: awaitProviders,
  component: lazyPage(() => import("../../features/identity/RegisterPage"), "RegisterPage"),
});
const forgotPassword = createRoute({
  getParentRoute: () => account,
  path: "/forgot-password",
  component: lazyPage(() => import("../../features/identity/ForgotPasswordPage"), "ForgotPasswordPage"),
});
const resetPassword = createRoute({
  getParentRoute: () => account,
  path: RESET_PATH,
  component: lazyPage(() => import("../../features/identity/ResetPasswordPage"), "ResetPasswordPage"),
});
const invitation = createRoute({
  getParentRoute: () => account,
  path: INVITATION_PATH,
  loader: awaitProviders,
  component: lazyPage(() => import("../../features/projects/InvitationPage"), "InvitationPage"),
});
const unsubscribe = createRoute({
  getParentRoute: () => account,
  path: UNSUBSCRIBE_PATH,
  component: lazyPage(() => import("../../features/notifications/UnsubscribePage"), "UnsubscribePage"),
});
const verifyEmail = createRoute({
  getParentRoute: () => account,
  path: VERIFY_EMAIL_PATH,
  beforeLoad: requireSession, // the link works in a session of its account only
  component: lazyPage(() => import("../../features/identity/VerifyEmailPage"), "VerifyEmailPage"),
});
const providerSignIn = createRoute({
  getParentRoute: () => account,
  path: CALLBACK_PATH,
  component: lazyPage(() => import("../../features/identity/ProviderSignInPage"), "ProviderSignInPage"),
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
