import { expect, it } from "vitest";
import { rolloutCommand } from "./snippets";

it("sets the rollout with a token or with a variable that contains it", () => {
  const path = { project_id: "p", env_id: "e", flag_id: "f" };
  expect(rolloutCommand("", path, 40, null)).toContain('"Authorization: Bearer $FLAGSTAFF_TOKEN"');
  expect(rolloutCommand("", path, 40, "jwt")).toContain('"Authorization: Bearer jwt"');
  expect(rolloutCommand("", path, 40, null)).toContain(`-d '{"rollout_percentage": 40}'`);
});
