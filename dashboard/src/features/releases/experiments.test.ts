import { expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { draftOf, experimentOf, movesUsers, refusalOf } from "./experiments";

const FLAG = {
  enabled: false,
  fallthrough: "off" as const,
  rollout_percentage: 0,
  variants: [
    { key: "blue", weight: 1, value: 1 },
    { key: "red", weight: 3, value: 2 },
  ],
};
const DRAFT = draftOf(FLAG, ["errors"]);

function problemsOf(draft: typeof DRAFT): readonly string[] {
  try {
    experimentOf(draft, FLAG);
  } catch (error) {
    if (error instanceof Problem) return error.fields.map(({ field }) => field);
  }
  return [];
}

it("is refused where it would divide users by the rollout", () => {
  expect([0, 1, 99, 100].map((percentage) => refusalOf({ rollout_percentage: percentage }) === null)).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

it("names the fields that are wrong", () => {
  expect(problemsOf({ ...DRAFT, metrics: [] })).toEqual(["metrics"]);
  expect(problemsOf({ ...DRAFT, weights: [1000, 0] })).toEqual(["weights"]);
  expect(problemsOf({ ...DRAFT, weights: [0, 1000] })).toEqual(["weights", "control"]);
  expect(problemsOf(DRAFT)).toEqual([]);
});

it("puts the control first, turns the flag on, and never sets a rollout", () => {
  const body = experimentOf({ ...DRAFT, control: "red", name: " Colours ", action: "turn_off" }, FLAG);
  expect(body).toEqual({
    name: "Colours",
    steps: [
      {
        after_seconds: 0,
        changes: {
          enabled: true,
          fallthrough: "rollout",
          variants: [
            { key: "red", weight: 750, value: 2 },
            { key: "blue", weight: 250, value: 1 },
          ],
        },
      },
    ],
    guards: [{ metric: "errors", action: "turn_off" }],
  });
});

it("knows whether users get another variant", () => {
  expect(movesUsers(FLAG, DRAFT)).toBe(false);
  expect(movesUsers(FLAG, { ...DRAFT, control: "red" })).toBe(true);
  expect(movesUsers(FLAG, { ...DRAFT, weights: [500, 500] })).toBe(true);
});

it("counts what server keys send only if that is chosen", () => {
  expect(experimentOf(DRAFT, FLAG)).not.toHaveProperty("counts");
  expect(experimentOf({ ...DRAFT, serverKeysOnly: true }, FLAG).counts).toBe("server_keys");
});
