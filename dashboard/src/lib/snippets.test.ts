import { expect, it } from "vitest";
import { evaluateSnippet, LANGUAGES, rolloutCommand, weightsCommand } from "./snippets";

const target = {
  origin: "https://flags.acme.com",
  sdkKey: "sdk_abc",
  environment: "production",
  flagKey: "new-checkout",
};

it.each(LANGUAGES)("fills in everything for %s", (language) => {
  const snippet = evaluateSnippet(language, target);
  expect(snippet).toContain("https://flags.acme.com/sdk/v1/evaluate");
  expect(snippet).toContain("sdk_abc");
  expect(snippet).toContain("production");
});

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
