/** Codes that prove a second factor. */

import { Problem } from "../../api/problem";

/** The ways to prove a second factor, as the server orders them. */
export const METHODS = ["totp", "passkey", "recovery_code"] as const;
export type Method = (typeof METHODS)[number];

export type CodeProof = { readonly code: string } | { readonly recovery_code: string };

/** A few digits are a code of the app; everything else is a recovery code. */
export function proofOf(text: string, methods: readonly Method[]): CodeProof {
  const typed = text.replaceAll(/\s/g, "");
  const isOfApp = methods.includes("totp") && (/^\d{0,8}$/.test(typed) || !methods.includes("recovery_code"));
  return isOfApp ? { code: typed } : { recovery_code: typed };
}

/** The same error for a form with one field, "code", for both kinds of codes. */
export function atCodeField(error: unknown): unknown {
  if (!(error instanceof Problem) || error.fields.length === 0) return error;
  const fields = error.fields.map(({ field, message }) => ({ field: field.replace(/^recovery_/, ""), message }));
  return new Problem(error.status, error.message, fields, error.requestId, error.document);
}
