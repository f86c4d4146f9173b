/** What the server has written into the page about itself. */

/** Whether `/docs` is here. Otherwise it is on a port that users cannot reach. */
export function hasDocs(): boolean {
  return said("docs") !== "elsewhere";
}

/** Something that every running server answers, without the database. Probes may be on another port. */
export const ANSWERED = "/scheme.js";

function said(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name=flagstaff-${name}]`)?.content;
}
