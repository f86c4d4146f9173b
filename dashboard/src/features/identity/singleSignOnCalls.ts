/** Signing in at identity providers. */

import { useMutation } from "@tanstack/react-query";
import { keepSignIn, type ProviderAnswer } from "./providerAnswer";
import { startSession } from "../../api/session";
import { client } from "../../api/client";
import { ask, isProblem, Problem } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { type Challenge, challengeOf } from "./secondFactorLoginCalls";

export type Provider = components["schemas"]["ProviderOut"];

export const providersQuery = {
  ...read("/auth/sso"),
  retry: false, // the pages that show them wait for them
};

/** Opens the provider's site, which sends the browser back to sign in and to continue with a page. */
export function useBeginSignIn(returnTo: string) {
  return useMutation({
    mutationFn: async ({ key, name }: Provider) => {
      const { authorization_url: url, binding } = await ask(
        client.POST("/auth/sso/{provider}/begin", {
          params: { path: { provider: key } },
          body: { return_to: returnTo },
        }),
      );
      keepSignIn({ binding, returnTo, provider: name });
      window.location.assign(url);
    },
  });
}

/** Completes a sign-in; its result is the page to continue with. */
export function useProviderAnswer() {
  return useMutation({
    mutationFn: async ({ provider, ...body }: ProviderAnswer) => {
      const { token, email, return_to, logout_url } = await ask(client.POST("/auth/sso/complete", { body }));
      startSession({ token, email, provider, ...(logout_url !== null && { logoutUrl: logout_url }) });
      return return_to;
    },
  });
}

export interface SecondStep {
  readonly challenge: Challenge;
  readonly returnTo: string;
}

/** The second step of a sign-in for an account with a second factor; null if the error is another one. */
export function secondStepOf(error: unknown, provider: string): SecondStep | null {
  if (!isProblem(error, "mfa_required")) return null;
  const { email, return_to: returnTo, logout_url: logoutUrl } = error.document;
  const challenge = challengeOf(error, String(email));
  const origin = { provider, ...(typeof logoutUrl === "string" && { logoutUrl }) };
  return challenge && { challenge: { ...challenge, origin }, returnTo: String(returnTo) };
}

/** The key of the provider at which the account of a refused sign-in must be opened; null if there is none. */
export function providerDemandedBy(error: unknown): string | null {
  const key = error instanceof Problem ? error.document.provider : null;
  return typeof key === "string" ? key : null;
}
