/**
 * JSON that is read and written again without a change. JavaScript reads 2.0 as 2 and 1e+16 as an integer, rounds integers
 * beyond 2^53, and lists names that are numbers first. Applications with types would get another type or number.
 *
 * A number that JavaScript would write in another way is therefore kept as `{"\0number": "2.0"}`, and a name that it would
 * put in another place begins with `\0`. Both are ordinary JSON, so they can be copied, compared and stored as drafts. They
 * cannot be mistaken for anything else, because the API accepts no NUL in texts and names.
 */

interface WrittenNumber {
  readonly "\0number": string;
}

/** The members of responses that have values of users. All other numbers of responses are only shown and computed with. */
export const OF_USERS: ReadonlySet<string> = new Set(["value", "actual", "attributes", "before", "after"]);

const NUL = "\\u0000";
const TOKEN = /"((?:[^"\\]|\\.)*)"(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g;
const SUSPECT = /[:,[\s](-?\d[\d.eE+-]*)(?=[\s,\]}])|"(?:\d+|__proto__)"\s*:/g;
const MOVED_NAME = /^(?:\d+|__proto__)$/;

/** The value of a text that a user wrote; throws a SyntaxError as JSON.parse does. */
export function readJson(text: string): unknown {
  JSON.parse(text); // for the error, whose position is that in the text
  return JSON.parse(kept(text, null)) as unknown;
}

/** The text of a response, for JSON.parse. */
export function keptInResponse(text: string): string {
  for (const [, number] of text.matchAll(SUSPECT)) {
    if (number === undefined || isWrittenOtherwise(number)) return kept(text, OF_USERS);
  }
  return text;
}

export function writeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent)
    .replace(/\{\s*"\\u0000number":\s*"(-?\d[\d.eE+-]*)"\s*\}/g, "$1")
    .replace(/"\\u0000(\d+|__proto__)"(?=:)/g, '"$1"');
}

/**
 * A value of the URL that is no text. Numbers that JavaScript would write in another way are texts, such as the id 1e3 of a
 * user: throws an Error.
 */
export function readSearchValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === "number" && isWrittenOtherwise(text)) throw new Error("a text");
  return value;
}

/** A text unchanged, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : writeJson(value);
}

/** The members of an object, with their names as they were written. */
export function membersOf(value: object): (readonly [name: string, value: unknown])[] {
  return Object.entries(value).map(([name, each]) => [name.replace(/^\0/, ""), each]);
}

export function isNumber(value: unknown): boolean {
  return typeof value === "number" || isWrittenNumber(value);
}

/** Whether a number is written without a fraction and an exponent. */
export function isInteger(value: unknown): boolean {
  return isNumber(value) && /^-?\d+$/.test(writeJson(value));
}

function isWrittenNumber(value: unknown): value is WrittenNumber {
  return typeof value === "object" && value !== null && "\0number" in value;
}

function isWrittenOtherwise(number: string): boolean {
  return JSON.stringify(Number(number)) !== number;
}

/** Marks what JavaScript would write in another way, in the whole text or in the members with these names. */
function kept(text: string, names: ReadonlySet<string> | null): string {
  let depth = 0;
  let since = names === null ? -1 : Infinity; // the depth of the member whose value is kept
  return text.replace(TOKEN, (token, string: string | undefined, colon: string | undefined) => {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") {
      depth -= 1;
      if (depth < since && names !== null) since = Infinity;
    } else if (string === undefined) {
      return depth >= since && isWrittenOtherwise(token) ? `{"${NUL}number":"${token}"}` : token;
    } else if (colon !== undefined) {
      if (depth <= since && names !== null) since = names.has(string) ? depth : Infinity;
      else if (MOVED_NAME.test(string)) return `"${NUL}${string}"${colon}`;
    }
    return token;
  });
}
