import { describe, expect, it } from "vitest";
import { foundActions } from "./paletteFilter";

const groups = [
  { group: "Pages", actions: [{ label: "History", description: "checkout" }, { label: "Settings" }] },
  { group: "Flags", actions: [{ label: "Cart", description: "checkout-cart" }, { label: "Checkout" }] },
];

describe("the palette", () => {
  it("shows what the label contains before what the description contains, and groups likewise", () => {
    expect(foundActions(" CHECKOUT ", groups, 9)).toEqual([
      { group: "Flags", actions: [{ label: "Checkout" }, { label: "Cart", description: "checkout-cart" }] },
      { group: "Pages", actions: [{ label: "History", description: "checkout" }] },
    ]);
    expect(foundActions("nothing", groups, 9)).toEqual([]);
  });

  it("finds what has all of the words, in any order", () => {
    const places = [{ group: "Environments", actions: [{ label: "Switch to Staging", description: "stage-eu" }] }];
    expect(foundActions("eu switch", places, 9)).toHaveLength(1);
    expect(foundActions("eu other", places, 9)).toEqual([]);
  });

  it("shows at most so many, and then the groups that always come", () => {
    const users = [{ group: "Users", actions: [{ label: "Look up 42" }] }];
    expect(foundActions("", groups, 3, users).map(({ actions }) => actions.length)).toEqual([2, 1, 1]);
    expect(foundActions("", groups, 2, users).map(({ group }) => group)).toEqual(["Pages", "Users"]);
  });
});
