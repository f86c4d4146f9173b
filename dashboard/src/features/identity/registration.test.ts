// @vitest-environment happy-dom

import { afterEach, expect, it } from "vitest";
import { isRegistrationOpen } from "./registration";

afterEach(() => {
  document.head.innerHTML = "";
});

const servePage = (content: string) => {
  document.head.innerHTML = `<meta name="flagstaff-registration" content="${content}">`;
};

it("is closed where the page says so", () => {
  servePage("closed");
  expect(isRegistrationOpen()).toBe(false);
});

it("is open otherwise, also in a page that no server has written into", () => {
  expect(isRegistrationOpen()).toBe(true);
  servePage("open");
  expect(isRegistrationOpen()).toBe(true);
  servePage("FLAGSTAFF_REGISTRATION");
  expect(isRegistrationOpen()).toBe(true);
});
