/** Secrets that people keep, in a form that can be typed, and as a file. */

/** The secret of an authenticator app in groups of four. */
export function inGroups(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).join(" ");
}

/** The text of a file with recovery codes, which says what they are for. */
export function codesFile(codes: readonly string[], email: string, site: string): string {
  const head = [`Recovery codes for ${email} at ${site}`, "Each code works once in place of a second factor."];
  return [...head, "", ...codes, ""].join("\n");
}
