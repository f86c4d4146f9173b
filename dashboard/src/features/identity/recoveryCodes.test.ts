import { expect, it } from "vitest";
import { codesFile, inGroups } from "./recoveryCodes";

it("writes a secret in groups of four", () => {
  expect(inGroups("ABCDEFGHIJ")).toBe("ABCD EFGH IJ");
  expect(inGroups("")).toBe("");
});

it("writes what the codes are for, and each code on its own line", () => {
  const file = codesFile(["abcd-efgh-2345-6789", "bcde-fghi-3456-7892"], "ada@acme.com", "https://flags.acme.com");
  expect(file).toBe(
    "Recovery codes for ada@acme.com at https://flags.acme.com\n" +
      "Each code works once in place of a second factor.\n\nabcd-efgh-2345-6789\nbcde-fghi-3456-7892\n",
  );
});
