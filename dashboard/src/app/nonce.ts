/** The nonce that the page's policy requires for styles added at run time. It is new for every page. */

declare global {
  var __webpack_nonce__: string | undefined;
}

// The part of Mantine that locks scrolling behind a dialog reads the nonce from here.
globalThis.__webpack_nonce__ = styleNonce();

export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}
