/** The word by which the page's policy knows styles written at run time for ours. Fresh with every page. */

declare global {
  var __webpack_nonce__: string | undefined;
}

// Where the part of Mantine that holds the page still behind a dialog looks for it.
globalThis.__webpack_nonce__ = styleNonce();

export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}
