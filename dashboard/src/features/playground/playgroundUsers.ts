/** Reads the users that were pasted: one id or email per line, or CSV with a header row. */

import { playground as texts } from "./playgroundTexts";
import { type CsvRow, readCsv } from "./csv";

export interface PastedUser {
  readonly line: number;
  readonly id: string | null;
  readonly email: string | null;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

export interface Pasted {
  readonly users: readonly PastedUser[];
  readonly problems: readonly LineProblem[];
}

export const USERS_MAX = 200;

const LENGTH_MAX = 1024;
const TEXT_MAX = 250_000; // the server accepts 256 KiB
const SEPARATORS = [",", ";", "\t"] as const;
const ID = "user_id";
const EMAILS: ReadonlySet<string> = new Set(["user_email", "email"]);
const AN_EMAIL = /^[^\s@]+@[^\s@]+$/;

export function readUsers(text: string): Pasted {
  if (text.length > TEXT_MAX) return { users: [], problems: [{ line: 1, message: texts.tooMuch }] };
  const given = text.replace(/^\uFEFF/, "");
  const separator = separatorOf(given);
  const { users, problems } = separator === null ? readLines(given) : readTable(readCsv(given, separator));
  if (users.length === 0 && problems.length === 0) return { users, problems: [{ line: 1, message: texts.noUsers }] };
  const [extra] = users.slice(USERS_MAX);
  const tooMany = extra ? [{ line: extra.line, message: texts.tooManyUsers(USERS_MAX, users.length) }] : [];
  return { users, problems: [...problems, ...users.flatMap(tooLong), ...tooMany].toSorted((a, b) => a.line - b.line) };
}

/** The separator of the columns of a table; null if the first line is not a header that names the users. */
function separatorOf(text: string): string | null {
  const first = text.trimStart().split(/[\r\n]/, 1)[0] ?? "";
  const isHeader = (separator: string) =>
    readCsv(first, separator)[0]?.cells.some((cell) => isId(cell) || isEmail(cell)) ?? false;
  return SEPARATORS.find(isHeader) ?? null;
}

function readLines(text: string): Pasted {
  const lines = text.split(/\r\n|\r|\n/).map((line, place) => ({ line: place + 1, text: line.trim() }));
  const given = lines.filter((each) => each.text !== "");
  const problems = given.flatMap(({ line, text: user }) =>
    SEPARATORS.some((each) => user.includes(each)) ? [{ line, message: texts.noHeader }] : [],
  );
  const users = given.map(({ line, text: user }) => {
    const isOne = AN_EMAIL.test(user);
    return { line, id: isOne ? null : user, email: isOne ? user : null, attributes: {} };
  });
  return { users, problems };
}

function readTable([header, ...rows]: readonly CsvRow[]): Pasted {
  const names = header?.cells ?? [];
  const wrong = header?.problem ? texts.csv[header.problem] : namesProblem(names);
  if (wrong !== null) return { users: [], problems: [{ line: header?.line ?? 1, message: wrong }] };
  const users: PastedUser[] = [];
  const problems: LineProblem[] = [];
  for (const { line, cells, problem } of rows) {
    if (problem !== null) problems.push({ line, message: texts.csv[problem] });
    else if (cells.length !== names.length) {
      problems.push({ line, message: texts.wrongCount(cells.length, names.length) });
    } else users.push(userOf(line, names, cells));
  }
  return { users, problems };
}

function namesProblem(names: readonly string[]): string | null {
  if (names.includes("")) return texts.unnamedColumn(names.indexOf("") + 1);
  const known = names.map((name) => (isId(name) ? ID : isEmail(name) ? "user_email" : name));
  const twice = known.find((name, place) => known.indexOf(name) < place);
  return twice === undefined ? null : texts.columnTwice(twice);
}

function userOf(line: number, names: readonly string[], cells: readonly string[]): PastedUser {
  const given = names.map((name, place) => [name, cells[place] ?? ""] as const).filter(([, value]) => value !== "");
  const attributes = given.filter(([name]) => !isId(name) && !isEmail(name));
  return {
    line,
    id: given.find(([name]) => isId(name))?.[1] ?? null,
    email: given.find(([name]) => isEmail(name))?.[1] ?? null,
    attributes: Object.fromEntries(attributes),
  };
}

const isId = (name: string) => name.toLowerCase() === ID;
const isEmail = (name: string) => EMAILS.has(name.toLowerCase());

function tooLong({ line, id, email }: PastedUser): LineProblem[] {
  const isLong = [id, email].some((each) => each !== null && each.length > LENGTH_MAX);
  return isLong ? [{ line, message: texts.tooLong(LENGTH_MAX) }] : [];
}

/** The user as an evaluation takes it. */
export function contextOf({ id, email, attributes }: PastedUser) {
  // The schema describes an object with any fields, for which the generated type has no values.
  return { user_id: id, user_email: email, custom_attributes: attributes as Record<string, never> };
}

/** The user in a few words. */
export function nameOf({ id, email, line }: PastedUser): string {
  return id ?? email ?? texts.nobody(line);
}
