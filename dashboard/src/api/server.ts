/** Where the server is and what it has, as it has written into the page. */

/** The path below which the server is, such as `/flags`; empty if it has a host of its own. */
export function pathPrefix(): string {
  const prefix = said("path-prefix") ?? "";
  return prefix.startsWith("/") ? prefix : "";
}

/** The server's address, without a slash at its end. */
export function serverAddress(): string {
  return window.location.origin + pathPrefix();
}

/** The path of the page without the prefix, as the routes have it. */
export function pagePath(): string {
  return window.location.pathname.slice(pathPrefix().length);
}

/** The name of an item in the browser's storage, which all servers of a host share. */
export function storageName(name: string): string {
  return `${name}${pathPrefix()}`;
}

/** Whether `/docs` is here. Otherwise it is on a port that users cannot reach. */
export function hasDocs(): boolean {
  return said("docs") !== "elsewhere";
}

/** The address of something that every running server answers, without the database: probes may be on another port. */
export function answeredAddress(): string {
  return `${serverAddress()}/scheme.js`;
}

function said(name: string): string | undefined {
  if (typeof document === "undefined") return undefined; // in a test
  return document.querySelector<HTMLMetaElement>(`meta[name=flagstaff-${name}]`)?.content;
}
