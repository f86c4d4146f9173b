// @vitest-environment happy-dom

import { afterEach, expect, it } from "vitest";
import { hasDocs, pagePath, pathPrefix, serverAddress, storageName } from "./server";

afterEach(() => {
  document.head.innerHTML = "";
});

const servePage = (name: string, content: string) => {
  document.head.innerHTML = `<meta name="flagstaff-${name}" content="${content}">`;
};

it("has no documentation where the page says so", () => {
  servePage("docs", "elsewhere");
  expect(hasDocs()).toBe(false);
});

it("has it otherwise, also in a page that no server has written into", () => {
  expect(hasDocs()).toBe(true);
  for (const content of ["here", "FLAGSTAFF_DOCS"]) {
    servePage("docs", content);
    expect(hasDocs()).toBe(true);
  }
});

it("is at the top of its host unless the page says otherwise", () => {
  for (const content of [null, "", "FLAGSTAFF_PATH_PREFIX"]) {
    if (content !== null) servePage("path-prefix", content);
    expect(pathPrefix()).toBe("");
    expect(serverAddress()).toBe(window.location.origin);
    expect(pagePath()).toBe(window.location.pathname);
    expect(storageName("flagstaff.session")).toBe("flagstaff.session");
  }
});

it("is below the prefix that the page names, with a session of its own", () => {
  servePage("path-prefix", "/tools/flags");
  expect(serverAddress()).toBe(`${window.location.origin}/tools/flags`);
  expect(storageName("flagstaff.session")).toBe("flagstaff.session/tools/flags");
  window.history.replaceState(null, "", "/tools/flags/reset-password");
  expect(pagePath()).toBe("/reset-password");
});
