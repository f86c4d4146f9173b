import { expect, test } from "vitest";
import { highlighted } from "./highlighting";

test("words of a language get a class", () => {
  expect(highlighted("return 1", "python")).toBe(
    '<span class="hljs-keyword">return</span> <span class="hljs-number">1</span>',
  );
});

test("code is never markup", () => {
  expect(highlighted("<img src=x onerror=alert(1)> & <b>", "bash")).not.toMatch(/<(img|b)\b/);
  expect(highlighted('"</span><script>"', "json")).not.toContain("<script>");
});
