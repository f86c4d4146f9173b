import { expect, it } from "vitest";
import { rolloutCommand } from "./snippets";

it("sets the rollout with a token or with a variable that contains it", () => {
  const path = { project_id: "p", env_id: "e", flag_id: "f" };
  expect(rolloutCommand("", path, 40, null)).toContain('"Authorization: Bearer $FLAGSTAFF_TOKEN"');
  expect(rolloutCommand("", path, 40, "jwt")).toContain('"Authorization: Bearer jwt"');
  expect(rolloutCommand("", path, 40, null)).toContain(`-d '{"rollout_percentage": 40}'`);
});

it("says beside the percentage of a flag that 0 means everyone, and not beside that of a rule, which is at least 1", () => {
  const path = { project_id: "p", env_id: "e", flag_id: "f" };
  const note = "# A rollout_percentage of 0 means everyone. To turn the flag off, set enabled to false.\n";
  expect(rolloutCommand("", path, 40, null).startsWith(note)).toBe(true);
  expect(rolloutCommand("", { ...path, rule_id: "r" }, 40, null)).not.toContain("everyone");
});
