import { expect, it } from "vitest";
import { changedWords } from "./changedWords";

it("marks the words that only one of two texts has", () => {
  expect(changedWords("If the user id is ada, for 50% of them", "If the user id is ada, for 5% of them")).toEqual({
    before: [
      { text: "If the user id is ada, for ", changed: false },
      { text: "50% ", changed: true },
      { text: "of them", changed: false },
    ],
    after: [
      { text: "If the user id is ada, for ", changed: false },
      { text: "5% ", changed: true },
      { text: "of them", changed: false },
    ],
  });
});

it("marks nothing of equal texts, and all of a text that the other side does not have", () => {
  expect(changedWords("a b", "a b").before).toEqual([{ text: "a b", changed: false }]);
  expect(changedWords("a b", "")).toEqual({ before: [{ text: "a b", changed: true }], after: [] });
});

it("does not compare word by word what is too long for that", () => {
  const text = "word ".repeat(600);
  expect(changedWords(text, `${text}more`).before).toEqual([{ text, changed: true }]);
});
