import { expect, it } from "vitest";
import type { Connection } from "../api/connections";
import { usersInWords } from "./keyUse";

const seen = (...applications: readonly string[]) => applications.map((application) => ({ application }) as Connection);

it("says who uses the only key of an environment", () => {
  expect(usersInWords(seen("checkout", "search", "checkout"), 1, "Staging")).toBe(
    "Used by SDK instances seen in the last hour: checkout (2 instances), search (1 instance).",
  );
});

it("says that it is not known which of several keys an instance uses", () => {
  expect(usersInWords(seen("checkout"), 3, "Staging")).toBe(
    "SDK instances seen in Staging in the last hour: checkout (1 instance). Which of the environment's 3 keys each of them uses is not recorded.",
  );
});

it("says that no instance was seen, and names at most five applications", () => {
  expect(usersInWords([], 1, "Staging")).toBe("No SDK instance was seen in Staging in the last hour.");
  expect(usersInWords(seen("a", "b", "c", "d", "e", "f", "g"), 1, "Staging")).toContain("e (1 instance), and 2 more.");
});
