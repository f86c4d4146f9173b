// @vitest-environment happy-dom

import { afterEach, expect, it } from "vitest";
import { hasDocs } from "./server";

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
