/** The signed-in account, and the link in a mail that verifies its address. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import { read } from "../../api/reads";

export const ownAccountQuery = read("/api/me/account");

export function useRequestVerification() {
  return useMutation({ mutationFn: () => ask<unknown>(client.POST("/api/me/email-verification")) });
}

export function useVerifyEmail() {
  return useMutation({
    mutationFn: (token: string) => ask<unknown>(client.POST("/api/me/email-verification/confirm", { body: { token } })),
  });
}
