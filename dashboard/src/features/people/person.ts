/** The user and the day of a page, in the URL, and the requests about them. */

import type { Evaluation } from "../history/historyCalls";
import type { components } from "../../api/schema";

export type Answers = components["schemas"]["AnswersOut"];

export interface PersonSearch {
  readonly id?: string;
  readonly email?: string;
  /** The key of the environment whose history is shown. */
  readonly environment?: string;
  /** A local day, such as "2026-11-17"; without one, everything up to now. */
  readonly day?: string;
  /** A text that the keys of flags contain. */
  readonly flag?: string;
}

const dayOfWeek = new Intl.DateTimeFormat("en", { weekday: "short", month: "short", day: "numeric" });
const TEXTS = ["id", "email", "environment", "flag"] as const;

export function toPersonSearch(raw: Readonly<Record<string, unknown>>): PersonSearch {
  const found: Record<string, string> = {};
  for (const name of TEXTS) {
    const value = raw[name];
    // The router reads an unquoted 42 in the URL as a number.
    const given = typeof value === "boolean" || typeof value === "number" ? String(value) : value;
    if (typeof given === "string" && given.trim()) found[name] = given.trim();
  }
  // A year that is still being typed begins with zeros.
  if (typeof raw.day === "string" && /^[1-9]\d{3}-\d\d-\d\d$/.test(raw.day) && !Number.isNaN(Date.parse(raw.day))) {
    found.day = raw.day;
  }
  return found;
}

/**
 * The users that a text can name: an id, or an email if it looks like one; many applications also use emails as ids.
 */
export function meantBy(text: string): readonly PersonSearch[] {
  const given = text.trim();
  if (given === "") return [];
  return /^[^\s@]+@[^\s@]+$/.test(given) ? [{ email: given }, { id: given }] : [{ id: given }];
}

export function nameOf({ id, email }: PersonSearch): string {
  return id ?? email ?? "";
}

/** When a local day begins and ends, for the API. */
export function boundsOf(day: string | undefined): { since?: string; until?: string } {
  if (day === undefined) return {};
  const start = new Date(`${day}T00:00:00`);
  const end = new Date(start);
  end.setDate(end.getDate() + 1); // a day can have 23 or 25 hours
  return { since: start.toISOString(), until: end.toISOString() };
}

/** Today and the days before it, newest first. */
export function lastDays(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, ago) => {
    const at = new Date(now);
    at.setDate(at.getDate() - ago);
    const [month, day] = [at.getMonth() + 1, at.getDate()].map((each) => String(each).padStart(2, "0"));
    return `${at.getFullYear()}-${month}-${day}`;
  });
}

/** "Tue, Nov 17": a local day for a button. */
export function weekday(day: string): string {
  return dayOfWeek.format(new Date(`${day}T12:00:00`));
}

/** The newest of some evaluations. */
export function newestOf(evaluations: readonly (Evaluation | null)[]): Evaluation | null {
  const found = evaluations.filter((each) => each !== null);
  return found.toSorted((a, b) => b.evaluated_at.localeCompare(a.evaluated_at))[0] ?? null;
}

/** The user with the id that was recorded with the email. An event that has an id is not found by an email. */
export function withId(person: PersonSearch, recorded: Evaluation | null): PersonSearch {
  const id = person.id ?? recorded?.user_id;
  return id == null ? person : { ...person, id };
}

/** The context to ask about: the user with what the given evaluation recorded. */
export function contextFor({ id, email }: PersonSearch, recorded: Evaluation | null) {
  return {
    user_id: id ?? recorded?.user_id ?? null,
    user_email: email ?? recorded?.user_email ?? null,
    // The schema describes an object with any fields, for which the generated type has no values.
    ...(recorded?.attributes && { custom_attributes: recorded.attributes as Record<string, never> }),
  };
}

export interface AnswerRow {
  readonly key: string;
  /** By the place of the environment; null where the environment has no such flag. */
  readonly answers: readonly (Answers["items"][number] | null)[];
}

/**
 * One page of all environments' flags, of which each environment sent the first ones. A key after the last one of an
 * environment that has more is left to the next page, because that environment may have it, too.
 */
export function rowsOf(parts: readonly Answers[]): { rows: AnswerRow[]; next: string | null } {
  const ends = parts.flatMap((part) => part.next_after ?? []);
  const next = ends.toSorted(byCode)[0] ?? null;
  const byKey = parts.map((part) => new Map(part.items.map((each) => [each.flag_key, each])));
  const keys = [...new Set(byKey.flatMap((each) => [...each.keys()]))].filter((key) => next === null || key <= next);
  return {
    rows: keys.toSorted(byCode).map((key) => ({ key, answers: byKey.map((each) => each.get(key) ?? null) })),
    next,
  };
}

/** The order of the server, which does not depend on a language. */
function byCode(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
