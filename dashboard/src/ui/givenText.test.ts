import { describe, expect, it } from "vitest";
import { isLink, visibleName, visibleProse } from "./givenText";

describe("a name or an id", () => {
  it("shows what would hide or reorder it", () => {
    expect(visibleName("photo\u202Egpj.exe")).toBe("photo\\u202Egpj.exe");
    expect(visibleName("a\0b\u0007\u009B\u007F")).toBe("a\\u0000b\\u0007\\u009B\\u007F");
    expect(visibleName("ada\u200B\uFEFF\u2066\u200F\u{E0041}")).toBe("ada\\u200B\\uFEFF\\u2066\\u200F\\u{E0041}");
    expect(visibleName("a\u034Fb\uFFF9c\u{1D173}")).toBe("a\\u034Fb\\uFFF9c\\u{1D173}");
    expect(visibleName("one\ntwo\u2028three")).toBe("one\\u000Atwo\\u2028three");
  });

  it("stays as it is in any language", () => {
    for (const name of ["Zoë", "עדה", "می‌خواهم", "👩‍💻", "❤\uFE0F", "葛\u{E0100}", "ᠠ\u180B", "user-42", "a b\u00A0c"])
      expect(visibleName(name)).toBe(name);
  });
});

describe("a text of several lines", () => {
  it("keeps lines, tabs and marks of direction, and shows other controls", () => {
    expect(visibleProse("one\r\ntwo\n\tthree\u200F")).toBe("one\ntwo\n\tthree\u200F");
    expect(visibleProse("a\u202Eb\u0000\r")).toBe("a\\u202Eb\\u0000\\u000D");
  });
});

describe("an address", () => {
  it("is no link if it has controls, a user or a backslash", () => {
    for (const text of [
      "https://bank.example@evil.example/",
      "https://bank.example:pass@evil.example",
      "https://bank.example\\@evil.example",
      "https://example.com/\u202Egpj",
      "https://example.com/\u0000",
      "https://example.com/\u200B",
      "https://",
      "https://[",
      "javascript:alert(1)",
      "data:text/html,x",
      "//example.com",
    ])
      expect(isLink(text), text).toBe(false);
  });

  it("is a link of the web otherwise", () => {
    for (const text of [
      "https://example.com/a?b=1#c",
      "http://localhost:8000",
      "https://example.com/@ada",
      "https://müller.example/ä",
    ])
      expect(isLink(text), text).toBe(true);
  });
});
