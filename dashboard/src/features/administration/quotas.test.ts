import { expect, it } from "vitest";
import { quotaInWords } from "./quotas";

it("names a quota after its setting", () => {
  expect(quotaInWords("FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT")).toBe("Projects per account");
});
