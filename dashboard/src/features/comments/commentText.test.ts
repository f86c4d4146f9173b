import { describe, expect, it } from "vitest";
import { textParts } from "./commentText";

const MEMBERS = new Set(["ada@example.com"]);
const parts = (text: string) => textParts(text, MEMBERS).map(({ kind, text: part }) => `${kind}: ${part}`);

describe("the text of a comment", () => {
  it("stays text, whatever markup it has", () => {
    expect(parts("<b>bold</b> **stars**\nline")).toEqual(["text: <b>bold</b> **stars**\nline"]);
    expect(parts("")).toEqual([]);
  });

  it("has links of the web only, without what ends the sentence", () => {
    expect(parts("see https://example.com/a?b=1.")).toEqual([
      "text: see ",
      "link: https://example.com/a?b=1",
      "text: .",
    ]);
    expect(parts("javascript:alert(1) data:text/html,x")).toEqual(["text: javascript:alert(1) data:text/html,x"]);
  });

  it("has no link that hides where it leads, and goes on after it", () => {
    expect(parts("https://bank.example@evil.example/ or https://example.com")).toEqual([
      "text: https://bank.example@evil.example/ or ",
      "link: https://example.com",
    ]);
    expect(parts("https://example.com/\u202Egpj")).toEqual(["text: https://example.com/\u202Egpj"]);
  });

  it("has code between backticks on one line", () => {
    expect(parts("set `enabled` now")).toEqual(["text: set ", "code: enabled", "text:  now"]);
    expect(parts("`one\ntwo`")).toEqual(["text: `one\ntwo`"]);
  });

  it("marks the mentions of members, and of nobody else", () => {
    expect(parts("@Ada@example.com, please")).toEqual(["mention: @Ada@example.com", "text: , please"]);
    expect(parts("(@ada@example.com.)")).toEqual(["text: (", "mention: @ada@example.com", "text: .)"]);
    expect(parts("@eve@example.com and x@ada@example.com")).toEqual(["text: @eve@example.com and x@ada@example.com"]);
  });
});
