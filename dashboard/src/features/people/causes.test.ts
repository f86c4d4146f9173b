import { expect, test } from "vitest";
import { differenceInWords } from "./causes";

test.each([
  [{ name: "plan", before: "free", after: "pro" }, "The user’s plan changed from free to pro."],
  [
    { name: "user_email", before: "a@acme.com", after: "b@acme.com" },
    "The user’s email changed from a@acme.com to b@acme.com.",
  ],
  [{ name: "groups", before: ["a"], after: ["a", "b"] }, 'The user’s groups changed from ["a"] to ["a","b"].'],
  [{ name: "plan", before: null, after: "pro" }, "The user has a new attribute: plan is pro."],
  [{ name: "age", before: 41, after: null }, "The user no longer has age, which was 41."],
  [
    { name: "current_time", before: "2026-11-01", after: "2026-11-02" },
    "Time passed: a rule of the flag depends on the date.",
  ],
])("%o reads: %s", (difference, words) => {
  expect(differenceInWords(difference)).toBe(words);
});
