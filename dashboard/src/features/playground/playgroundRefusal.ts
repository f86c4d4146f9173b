/** Translates a refusal of the server into the terms of the page: the lines of the users, and the keys of the flags. */

import { lineOf, Problem } from "../../api/problem";
import { playground as texts } from "./playgroundTexts";
import type { PastedUser } from "./playgroundUsers";

interface Asked {
  readonly users: readonly PastedUser[];
  readonly flags: readonly string[];
}

export function refusalInWords(error: unknown, { users, flags }: Asked): string {
  if (!(error instanceof Problem) || error.fields.length === 0) return lineOf(error);
  const named = error.fields.map(({ field, message }) => {
    const [list, place = "", ...rest] = field.split(".");
    const user = list === "users" ? users[Number(place || "-1")] : undefined;
    const key = list === "flag_keys" ? flags[Number(place || "-1")] : undefined;
    if (user) return texts.line(user.line, [...rest, `${message}.`].join(" "));
    return `${key ?? field} ${message}.`;
  });
  return named.join(" ");
}
