/** Proposes a key for a name: one that the API accepts and that a person might have typed. */

const LONGEST = 128;

export function proposeFlagKey(name: string): string {
  return proposeEnvironmentKey(name).replace(/^[^a-z]+/, "");
}

export function proposeEnvironmentKey(name: string): string {
  return name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{Diacritic}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, "");
}
