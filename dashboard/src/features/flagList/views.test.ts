import { expect, it } from "vitest";
import type { OwnPermissions } from "../../api/members";
import { currentView, maySaveViews } from "./views";

it("finds the view that a filter is, whatever the order of its fields", () => {
  const views = [{ search: { tag: "a" } }, { search: { tag: "a", state: "on" } }];
  expect(currentView(views, { state: "on", tag: "a" })).toBe(views[1]);
  expect(currentView(views, { tag: "b" })).toBeUndefined();
  expect(currentView(views, {})).toBeUndefined();
});

it("lets those save views who may change flags somewhere", () => {
  const own = (permissions: string[], there: string[]) =>
    ({ permissions, environments: { staging: there } }) as unknown as OwnPermissions;
  expect([own([], []), own([], ["flags:write"]), own(["flags:write"], []), undefined].map(maySaveViews)).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
