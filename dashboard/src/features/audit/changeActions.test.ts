import { describe, expect, it } from "vitest";
import { changesPage } from "./changesPageTexts";
import { ACTIONS } from "./changeActions";

describe("the name of an action", () => {
  it("has the kind of resource in words", () => {
    expect(changesPage.actionName("pinned_chart.created")).toBe("Pinned chart created");
    expect(changesPage.actionName("sdk_key.revoked")).toBe("SDK key revoked");
    expect(ACTIONS.map(changesPage.actionName).filter((name) => !/^[A-Z][A-Za-z ]+$/.test(name))).toEqual([]);
  });
});
