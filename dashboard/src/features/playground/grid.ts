/** The grid of the playground: the results that it shows, the differences between environments, and the same as CSV. */

import { texts as textsIn } from "../../ui/search";
import type { Environment } from "../../api/client";
import type { components } from "../../api/schema";
import { common } from "../../ui/commonTexts";
import { playground as texts } from "./playgroundTexts";
import { writeCsv } from "./csv";
import { nameOf, type PastedUser } from "./playgroundUsers";

export const ENVIRONMENTS_MAX = 5;
export const FLAGS_MAX = 200;

const ADDRESS_MAX = 2_000; // longer URLs may be cut off or refused

export type Answers = components["schemas"]["PlaygroundOut"];
export type FlagAnswers = components["schemas"]["PlaygroundFlagOut"];
export type Answer = FlagAnswers["answers"][number];

/** In the URL. The users, who may be emails, are not. */
export interface PlaygroundSearch {
  readonly environments?: string;
  readonly flags?: string;
}

export const toPlaygroundSearch = (raw: Readonly<Record<string, unknown>>): PlaygroundSearch =>
  textsIn(raw, "environments flags");

export interface Choice {
  readonly environments: readonly Environment[];
  /** Keys; none stands for the first ones. */
  readonly flags: readonly string[];
}

/** A flag, and its answers by the place of the environment; null where there is no such flag. */
export interface Column {
  readonly key: string;
  readonly of: readonly (FlagAnswers | null)[];
}

/** The users and environments that were asked about, and the answers. */
export interface Grid {
  readonly users: readonly PastedUser[];
  readonly environments: readonly Environment[];
  readonly columns: readonly Column[];
  readonly evaluatedAt: string;
  readonly moreFlags: boolean;
}

/** A part of a grid: places of users and of environments, and flags. `isShown` says whether a flag's cells are. */
export interface View {
  readonly users: readonly number[];
  readonly sides: readonly number[];
  readonly columns: readonly Column[];
  readonly isShown: (column: Column, user: number) => boolean;
  /** How many flags of a user are shown. */
  readonly count: number;
}

export function choiceOf(search: PlaygroundSearch, environments: readonly Environment[]): Choice {
  const keys = keysIn(search.environments);
  const chosen = environments.filter((each) => keys.includes(each.key));
  return {
    environments: (chosen.length > 0 ? chosen : environments.slice(0, 2)).slice(0, ENVIRONMENTS_MAX),
    flags: keysIn(search.flags).slice(0, FLAGS_MAX),
  };
}

export function searchOf({ environments, flags }: Choice): PlaygroundSearch {
  const keys = flags.join(",");
  return {
    environments: environments.map((each) => each.key).join(","),
    ...(keys !== "" && keys.length <= ADDRESS_MAX && { flags: keys }),
  };
}

function keysIn(text = ""): string[] {
  return [...new Set(text.split(",").filter(Boolean))];
}

export function gridOf(users: readonly PastedUser[], { environments, flags }: Choice, answers: Answers): Grid {
  const byKey = answers.environments.map((each) => new Map(each.flags.map((flag) => [flag.flag_key, flag])));
  const found = [...new Set(byKey.flatMap((each) => [...each.keys()]))];
  const keys = flags.length > 0 ? flags : found.toSorted();
  return {
    users,
    environments,
    columns: keys.map((key) => ({ key, of: byKey.map((each) => each.get(key) ?? null) })),
    evaluatedAt: answers.evaluated_at,
    moreFlags: answers.more_flags,
  };
}

export function answerOf(column: Column, side: number, user: number): Answer | null {
  const flag = column.of[side];
  return flag?.answers[flag.of_users[user] ?? -1] ?? null;
}

/** Everything. */
export function wholeView({ users, environments, columns }: Grid): View {
  return {
    users: [...users.keys()],
    sides: [...environments.keys()],
    columns,
    isShown: () => true,
    count: users.length * columns.length,
  };
}

/** Only where two environments give a user another state or variant, or where one of them has no such flag. */
export function differencesView({ users, columns }: Grid, from: number, to: number): View {
  const isShown = (column: Column, user: number) => differ(answerOf(column, from, user), answerOf(column, to, user));
  const all = [...users.keys()];
  const shown = columns.map((column) => all.filter((user) => isShown(column, user)));
  const differing = new Set(shown.flat());
  return {
    users: all.filter((user) => differing.has(user)),
    sides: [from, to],
    columns: columns.filter((_, place) => shown[place]?.length),
    isShown,
    count: shown.flat().length,
  };
}

function differ(one: Answer | null, other: Answer | null): boolean {
  return one?.enabled !== other?.enabled || one?.variant !== other?.variant;
}

export function stateOf(answer: Answer | null): string {
  return answer === null ? texts.noFlag : answer.enabled ? common.on : common.off;
}

/** The reason, with the name of the rule that decided. */
export function reasonOf({ reason, decided_by: by }: Answer): string {
  return by.rule_name ? `${reason}: ${by.rule_name}` : reason;
}

/** A line for each answer that is shown, with its reason. */
export function csvOf({ users, environments }: Grid, view: View): string {
  const rows = view.users.flatMap((place) => {
    const user = users[place];
    if (!user) return [];
    return view.columns.flatMap((column) => {
      if (!view.isShown(column, place)) return [];
      return view.sides.map((side) => {
        const answer = answerOf(column, side, place);
        return [
          nameOf(user),
          user.email ?? "",
          column.key,
          environments[side]?.key ?? "",
          stateOf(answer).toLowerCase(),
          answer?.variant ?? "",
          answer === null ? "" : answer.reason,
          answer?.decided_by.rule_name ?? "",
        ];
      });
    });
  });
  return writeCsv([texts.csvColumns, ...rows]);
}
