/** Accounts: registration, sign-in and password resets. */

import { useMutation } from "@tanstack/react-query";
import { forgetEnvironments } from "../lib/lastEnvironment";
import { notifyRefused } from "../lib/notify";
import type { ProviderAnswer } from "../lib/providerAnswer";
import { currentSession, endSession, startSession } from "../lib/session";
import { t } from "../texts";
import { client } from "./client";
import { ask, Problem } from "./problem";

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

/** Completes a sign-in at an identity provider; its result is the page to go on with. */
export function useProviderAnswer() {
  return useMutation({
    mutationFn: async (answer: ProviderAnswer) => {
      const { token, email, return_to } = await ask(client.POST("/auth/sso/complete", { body: answer }));
      startSession({ token, email });
      return return_to;
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
      const email = currentSession()?.email ?? "";
      const { token } = await ask(client.POST("/api/me/password", { body: passwords }));
      startSession({ token, email }); // every earlier token has ended, this browser's own included
    },
  });
}

/** Ends the session on the server and here; here also when the server cannot be told, which is then said. */
export async function signOut(): Promise<void> {
  try {
    await ask(client.POST("/auth/logout", { signal: AbortSignal.timeout(SIGN_OUT_MILLISECONDS) }));
  } catch (error) {
    const hasEndedBefore = error instanceof Problem && error.status === 401;
    if (!hasEndedBefore) notifyRefused(t.accounts.signOutFailed, error);
  } finally {
    forgetEnvironments();
    endSession("signed-out");
  }
}

export function useResetPassword(token: string) {
  return useMutation({
    mutationFn: ({ newPassword }: { newPassword: string }) =>
      ask(client.POST("/auth/reset-password", { body: { token, newPassword }, parseAs: "text" })),
  });
}

async function signIn(credentials: Credentials): Promise<void> {
  const { token } = await ask(client.POST("/auth/login", { body: credentials }));
  startSession({ token, email: credentials.email.trim() });
}
