import { expect, it } from "vitest";
import { audienceInFull, audienceInShort, isAudience, rulesInForceOf } from "./audience";

const flag: Parameters<typeof audienceInFull>[0] = {
  enabled: true,
  rollout_percentage: 0,
  fallthrough: "rollout",
  stickiness: "default",
  prerequisites: [],
};
const onlyRules = { ...flag, fallthrough: "off", rollout_percentage: 25 } as typeof flag;
const none = { count: 0, areShares: false };
const two = { count: 2, areShares: false };
const shares = { count: 2, areShares: true };

it("counts only enabled rules", () => {
  const rules = [
    { enabled: true, rollout_percentage: 100 },
    { enabled: false, rollout_percentage: 20 },
  ];
  expect(rulesInForceOf(rules)).toEqual({ count: 1, areShares: false });
  expect(rulesInForceOf([{ enabled: true, rollout_percentage: 20 }]).areShares).toBe(true);
});

it("says who gets a flag in a few words", () => {
  expect(audienceInShort(flag, none)).toBe("Everyone");
  expect(audienceInShort({ ...flag, rollout_percentage: 25 }, two)).toBe("2 rules, then 25%");
  expect(audienceInShort(onlyRules, two)).toBe("2 rules only");
  expect(audienceInShort(onlyRules, none)).toBe("Nobody");
});

it("says that a flag is on only for its rules, or for nobody", () => {
  expect(audienceInFull(onlyRules, two)).toContain("On only for users who match a rule.");
  expect(audienceInFull(onlyRules, shares)).toContain("and are in its percentage");
  expect(audienceInFull(onlyRules, none)).toContain("Off for everyone");
  expect(audienceInFull({ ...onlyRules, enabled: false }, two)).toContain("Off for everyone");
});

it("says by which attribute users are chosen", () => {
  const rollout = { ...flag, rollout_percentage: 25 };
  expect(audienceInFull(rollout, none)).toBe("On for 25% of users, always the same users.");
  expect(audienceInFull({ ...rollout, stickiness: "company" }, none)).toBe("On for 25% of users, chosen by company.");
  expect(audienceInFull(rollout, shares)).toContain("are in its percentage, and for 25% of all others");
});

it("says which other flags must be on or off", () => {
  const prerequisites = [
    { flag_key: "payment", variants: ["a", "b"] },
    { flag_key: "freeze", enabled: false },
  ];
  const words = "It also requires that payment is on with a or b and freeze is off.";
  expect(audienceInFull({ ...flag, prerequisites }, none)).toBe(`On for everyone. ${words}`);
  expect(audienceInShort({ ...flag, prerequisites }, two)).toBe("2 rules, then everyone; needs 2 flags");
});

it("finds flags by their audience", () => {
  expect(isAudience(onlyRules, none, "only")).toBe(true);
  expect(isAudience(onlyRules, none, "rollout")).toBe(false);
  expect(isAudience({ ...onlyRules, rollout_percentage: 0 }, none, "everyone")).toBe(false);
});
