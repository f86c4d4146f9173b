import { expect, it } from "vitest";
import type { FlagInBrief } from "./projectFlagsCalls";
import { audienceOf } from "./projectFlags";

const flag: FlagInBrief = {
  id: "1",
  environment_id: "e",
  name: "New checkout",
  enabled: true,
  archived_at: null,
  updated_at: "2026-11-20T10:00:00.000000Z",
  rollout_percentage: 25,
  fallthrough: "rollout",
  rules: 2,
  variants: 0,
  prerequisites: 0,
};

it("says who gets a flag", () => {
  expect(audienceOf(flag)).toBe("2 rules, then 25%");
  expect(audienceOf({ ...flag, rules: 0, prerequisites: 1 })).toBe("25% of users; needs 1 flag");
});
