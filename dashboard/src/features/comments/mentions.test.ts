import { describe, expect, it } from "vitest";
import { completed, suggested, typedMention } from "./mentions";

const typedIn = (text: string) => typedMention(text, text.length);

describe("mentions", () => {
  it("begin with an @ that is not in a word", () => {
    expect(typedIn("@")).toBe("");
    expect(typedIn("ask @ad")).toBe("ad");
    expect(typedIn("(@ada@exa")).toBe("ada@exa");
    expect(typedIn("mail ada@exa")).toBeNull();
    expect(typedIn("@ada ")).toBeNull();
    expect(typedMention("@ada and more", 3)).toBe("ad");
  });

  it("suggest members whose address begins with what is typed first, but nobody who is typed in full", () => {
    const emails = ["grace@ada.example", "ada@example.com", "Adam@example.com"];
    expect(suggested(emails, "ada")).toEqual(["ada@example.com", "Adam@example.com", "grace@ada.example"]);
    expect(suggested(emails, "ada@example.com")).toEqual([]);
    expect(suggested(emails, "zed")).toEqual([]);
  });

  it("are completed at the caret", () => {
    expect(completed("ask @ad now", 7, "ad", "ada@example.com")).toEqual({
      text: "ask @ada@example.com now",
      caret: 21,
    });
    expect(completed("@", 1, "", "ada@example.com")).toEqual({ text: "@ada@example.com ", caret: 17 });
  });
});
