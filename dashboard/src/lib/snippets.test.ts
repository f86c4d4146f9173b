import { expect, it } from "vitest";
import { rolloutCommand, weightsCommand } from "./snippets";

it("sets the rollout with a token or with a variable that contains it", () => {
  const path = { project_id: "p", env_id: "e", flag_id: "f" };
  expect(rolloutCommand("", path, 40, null)).toContain('"Authorization: Bearer $FLAGSTAFF_TOKEN"');
  expect(rolloutCommand("", path, 40, "jwt")).toContain('"Authorization: Bearer jwt"');
  expect(rolloutCommand("", path, 40, null)).toContain(`-d '{"rollout_percentage": 40}'`);
});

it("sets the weights with whole variants, quoted for the shell", () => {
  const path = { project_id: "p", env_id: "e", flag_id: "f" };
  const variants = [
    { key: "a", weight: 900, value: "it's" },
    { key: "b", weight: 100, value: "" },
  ];
  expect(weightsCommand("", path, variants, null)).toContain(`-d '{"variants": [
  {"key": "a", "weight": 900, "value": "it'\\''s"},
  {"key": "b", "weight": 100, "value": ""}]}'`);
});
