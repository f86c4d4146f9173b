/** The word by which the page's policy knows styles written at run time for ours. Fresh with every page. */

export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}
