/** Accounts: registration, sign-in and password resets. */

import { useMutation } from "@tanstack/react-query";
import { startSession } from "../lib/session";
import { client } from "./client";
import { ask } from "./problem";

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function useSignIn() {
  return useMutation({ mutationFn: signIn });
}

export function useRegister() {
  return useMutation({
    mutationFn: async (credentials: Credentials) => {
      await ask(client.POST("/auth/register", { body: credentials }));
      await signIn(credentials);
    },
  });
}

export function useForgotPassword() {
  return useMutation({
    mutationFn: ({ email }: { email: string }) => ask(client.POST("/auth/forgot-password", { body: { email } })),
  });
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
