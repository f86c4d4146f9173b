/** Accounts: registration, sign-in and password resets. */

import { useMutation } from "@tanstack/react-query";
import { forgetEnvironments } from "../../ui/lastEnvironment";
import { notifyRefused } from "../../api/notify";
import { currentSession, endSession, startSession } from "../../api/session";
import { accountsTexts } from "./accountsTexts";
import { client } from "../../api/client";
import { ask, Problem } from "../../api/problem";

const SIGN_OUT_MILLISECONDS = 5_000;

interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface Registration extends Credentials {
  /** The token of an invitation, which makes the account a member of its project. */
  readonly invitation?: string;
}

export function useSignIn() {
  return useMutation({ mutationFn: signIn });
}

export function useRegister() {
  return useMutation({
    mutationFn: async ({ invitation, ...credentials }: Registration) => {
      await ask(client.POST("/auth/register", { body: { ...credentials, ...(invitation && { invitation }) } }));
      await signIn(credentials);
    },
  });
}

export function useForgotPassword() {
  return useMutation({
    mutationFn: ({ email }: { email: string }) => ask(client.POST("/auth/forgot-password", { body: { email } })),
  });
}

export function useChangePassword() {
  return useMutation({
    mutationFn: async (passwords: { current_password: string; new_password: string }) => {
      const session = currentSession();
      const { token } = await ask(client.POST("/api/me/password", { body: passwords }));
      startSession({ email: "", ...session, token }); // every earlier token has ended, this browser's own included
    },
  });
}

/** Deletes the account, and with it this session. */
export function useDeleteOwnAccount() {
  return useMutation({
    mutationFn: async (proof: { current_password?: string }) => {
      await ask(client.POST("/api/me/deletion", { body: proof }));
      forgetEnvironments();
      endSession("signed-out");
    },
  });
}

/** Signs out, also at the identity provider that the session came from, if it offers that. */
export async function signOut(): Promise<void> {
  const logoutUrl = currentSession()?.logoutUrl;
  const hasEnded = await signOutHere();
  if (hasEnded && logoutUrl !== undefined) window.location.assign(logoutUrl);
}

/** Ends the session on the server and here. If the server cannot be reached, it ends only here, with a message. */
export async function signOutHere(): Promise<boolean> {
  try {
    await ask(client.POST("/auth/logout", { signal: AbortSignal.timeout(SIGN_OUT_MILLISECONDS) }));
    return true;
  } catch (error) {
    const hasEndedBefore = error instanceof Problem && error.status === 401;
    if (!hasEndedBefore) notifyRefused(accountsTexts.signOutFailed, error);
    return hasEndedBefore;
  } finally {
    forgetEnvironments();
    endSession("signed-out");
  }
}

export function useResetPassword(token: string) {
  return useMutation({
    mutationFn: (given: { newPassword: string; keep_access_tokens: boolean }) =>
      ask(client.POST("/auth/reset-password", { body: { token, ...given }, parseAs: "text" })),
  });
}

async function signIn(credentials: Credentials): Promise<void> {
  const { token } = await ask(client.POST("/auth/login", { body: credentials }));
  startSession({ token, email: credentials.email.trim() });
}
