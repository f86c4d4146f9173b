/** The second step of a sign-in, for accounts with a second factor. */

import { useMutation } from "@tanstack/react-query";
import { askForPasskey } from "./passkeys";
import { atCodeField, type CodeProof, METHODS, type Method, proofOf } from "./proofs";
import { type Session, startSession } from "../../api/session";
import { client } from "../../api/client";
import { ask, isProblem, Problem } from "../../api/problem";

export interface Challenge {
  readonly email: string;
  readonly challenge: string;
  readonly methods: readonly Method[];
  readonly passkeyOptions: Record<string, unknown> | null;
  /** What the session keeps of the provider at which the first step was taken. */
  readonly origin?: Pick<Session, "provider" | "logoutUrl">;
}

/** The challenge for an account that has passed the first step; null if the error is another one. */
export function challengeOf(error: unknown, email: string): Challenge | null {
  if (!isProblem(error, "mfa_required")) return null;
  const { challenge, methods, passkey_options: options } = error.document;
  if (typeof challenge !== "string" || !Array.isArray(methods)) return null;
  return {
    email: email.trim(),
    challenge,
    methods: METHODS.filter((each) => methods.includes(each)),
    passkeyOptions: (options ?? null) as Challenge["passkeyOptions"],
  };
}

/** Whether the challenge is used up, so that the sign-in must begin again. */
export function hasEnded(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 401;
}

export function useCode(challenge: Challenge) {
  return useMutation({
    mutationFn: async ({ code }: { code: string }) => {
      try {
        await prove(challenge, proofOf(code, challenge.methods));
      } catch (error) {
        throw atCodeField(error);
      }
    },
  });
}

export function usePasskey(challenge: Challenge) {
  return useMutation({
    mutationFn: async () => {
      const passkey = await askForPasskey(challenge.passkeyOptions ?? {});
      await prove(challenge, { passkey });
    },
  });
}

type Proof = CodeProof | { passkey: Record<string, unknown> };

async function prove({ email, challenge, origin }: Challenge, proof: Proof): Promise<void> {
  const { token } = await ask(client.POST("/auth/login/second-factor", { body: { challenge, ...proof } }));
  startSession({ token, email, ...origin });
}
