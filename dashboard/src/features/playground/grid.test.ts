import { expect, it } from "vitest";
import type { Environment } from "../../api/client";
import { type Answers, choiceOf, csvOf, differencesView, gridOf, searchOf, wholeView } from "./grid";
import { readUsers } from "./playgroundUsers";

const environments = ["production", "staging", "canary"].map(
  (key) => ({ id: `id-${key}`, key, name: key }) as Environment,
);
const [production, staging] = environments as [Environment, Environment];

const answer = (enabled: boolean, reason: string, variant: string | null = null, rule: string | null = null) => ({
  enabled,
  reason,
  variant,
  decided_by: { step: "rule" as const, prerequisite: null, rule_id: rule, rule_name: rule },
});

function answersOf(flags: Record<string, [readonly ReturnType<typeof answer>[], number[]]>) {
  return Object.entries(flags).map(([key, [answers, ofUsers]]) => ({
    flag_key: key,
    flag_id: `id-${key}`,
    answers: [...answers],
    of_users: ofUsers,
  }));
}

const ON = answer(true, "Globally enabled");
const OFF = answer(false, "Flag disabled");
const answers: Answers = {
  evaluated_at: "2026-11-20T10:00:00Z",
  more_flags: false,
  environments: [
    {
      environment_id: production.id,
      environment_key: production.key,
      flags: answersOf({
        same: [[ON], [0, 0, 0]],
        state: [
          [ON, OFF],
          [0, 1, 0],
        ],
        variant: [
          [answer(true, "x", "red"), answer(true, "x", "blue")],
          [0, 1, 1],
        ],
      }),
    },
    {
      environment_id: staging.id,
      environment_key: staging.key,
      flags: answersOf({
        // Another reason with the same result is no difference.
        same: [[answer(true, "Matched", null, "=Team")], [0, 0, 0]],
        state: [[OFF], [0, 0, 0]],
        variant: [[answer(true, "x", "red")], [0, 0, 0]],
        added: [[OFF], [0, 0, 0]],
      }),
    },
  ],
};
const { users } = readUsers("ada\n=bob@example.com\neve");
const grid = gridOf(users, { environments: [production, staging], flags: [] }, answers);

it("has the first two environments and all flags until others are chosen", () => {
  expect(choiceOf({}, environments)).toEqual({ environments: [production, staging], flags: [] });
  expect(choiceOf({ environments: "gone" }, environments).environments).toEqual([production, staging]);
});

it("keeps the choice in the URL, unless it is too long", () => {
  const choice = { environments: [staging], flags: ["a", "b"] };
  expect(searchOf(choice)).toEqual({ environments: "staging", flags: "a,b" });
  expect(choiceOf({ ...searchOf(choice) }, environments)).toEqual(choice);
  const many = Array.from({ length: 200 }, (_, place) => `flag-number-${place}`);
  expect(searchOf({ ...choice, flags: many })).toEqual({ environments: "staging" });
});

it("shows the flags in the order of their keys, or in that of the choice", () => {
  expect(wholeView(grid).columns.map(({ key }) => key)).toEqual(["added", "same", "state", "variant"]);
  const chosen = gridOf(users, { environments: [production], flags: ["variant", "same"] }, answers);
  expect(chosen.columns.map(({ key }) => key)).toEqual(["variant", "same"]);
});

it("finds where environments differ in state or variant, or in having the flag", () => {
  const view = differencesView(grid, 0, 1);
  const differing = view.columns.map((column) => [column.key, view.users.filter((user) => view.isShown(column, user))]);
  expect(differing).toEqual([
    ["added", [0, 1, 2]],
    ["state", [0, 2]],
    ["variant", [1, 2]],
  ]);
  expect(view.count).toBe(7);
  expect(differencesView(grid, 0, 0)).toMatchObject({ users: [], columns: [], count: 0 });
});

it("exports what is shown, with the reasons, and no formulas", () => {
  const whole = csvOf(grid, wholeView(grid)).split("\r\n");
  expect(whole).toHaveLength(1 + 3 * 4 * 2 + 1);
  expect(whole.slice(0, 5)).toEqual([
    "user,user_email,flag_key,environment,state,variant,reason,rule",
    "ada,,added,production,no flag,,,",
    "ada,,added,staging,off,,Flag disabled,",
    "ada,,same,production,on,,Globally enabled,",
    "ada,,same,staging,on,,Matched,'=Team",
  ]);
  expect(whole[9]).toBe("'=bob@example.com,'=bob@example.com,added,production,no flag,,,");
  const [, first, second] = csvOf(grid, differencesView(grid, 0, 1))
    .split("\r\n")
    .slice(3);
  expect([first, second]).toEqual([
    "ada,,state,staging,off,,Flag disabled,",
    "'=bob@example.com,'=bob@example.com,added,production,no flag,,,",
  ]);
});
