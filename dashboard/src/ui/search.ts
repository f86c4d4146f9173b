/** The filters in the URL. They are parsed leniently, because people type and share URLs; defaults are left out. */

import { AUDIENCES, type Audience } from "./conditions/audience";
import { pathPrefix } from "../api/server";
import { PERIODS, type Period } from "./charts/periods";

export const STATES = ["all", "on", "off"] as const;
export const SEENS = ["any", "day", "quiet"] as const;
export const SORTS = ["newest", "name", "changed", "evaluated"] as const;
export const ANSWERS = ["any", "on", "off"] as const;
export const TABS = ["overview", "releases", "history", "changes", "comments", "code"] as const;
/** The tabs of an archived flag. There is none about its use in code. */
export const ARCHIVED_TABS: readonly Tab[] = ["overview", "releases", "history", "changes", "comments"];
export type Tab = (typeof TABS)[number];

export interface FlagsSearch {
  readonly q?: string;
  readonly state?: (typeof STATES)[number];
  readonly audience?: Audience;
  readonly seen?: (typeof SEENS)[number];
  readonly tag?: string;
  readonly owner?: string;
  readonly favourites?: true;
  readonly sort?: (typeof SORTS)[number];
}

export interface HistorySearch {
  readonly user?: string;
  readonly email?: string;
  readonly flag?: string;
  /** The id of the flag with that key: of a deleted one that had the key before. */
  readonly id?: string;
  readonly answer?: (typeof ANSWERS)[number];
  /** A variant of the flag. */
  readonly variant?: string;
  /** The id of a rule of the flag. */
  readonly rule?: string;
  readonly period?: Period;
  /** A moment, as the API has them: the history around it is shown instead of a period. */
  readonly at?: string;
  /** The time that is shown instead of a period, from a moment up to another. */
  readonly since?: string;
  readonly until?: string;
  /** The choices for the chart, as chartView.ts reads them. */
  readonly split?: string;
  readonly scale?: string;
  readonly compare?: string;
  /** The key of the environment with which the chart is compared. */
  readonly with?: string;
}

type Raw = Readonly<Record<string, unknown>>;

export function toFlagsSearch(raw: Raw): FlagsSearch {
  return {
    ...text(raw, "q"),
    ...choice(raw, "state", STATES),
    ...choice(raw, "audience", AUDIENCES),
    ...choice(raw, "seen", SEENS),
    ...text(raw, "tag"),
    ...text(raw, "owner"),
    ...((raw.favourites === true || raw.favourites === "") && { favourites: true }),
    ...choice(raw, "sort", SORTS),
  };
}

export function toHistorySearch(raw: Raw): HistorySearch {
  return {
    ...choice(raw, "answer", ANSWERS),
    ...choice(raw, "period", PERIODS),
    ...texts(raw, "user email flag id variant rule at since until split scale compare with"),
  };
}

/** The search of a list on a page for administrators. */
export function toListSearch(raw: Raw): { readonly q?: string } {
  return text(raw, "q");
}

export function toFlagPage(raw: Raw): HistorySearch & { readonly tab?: Tab } {
  return { ...choice(raw, "tab", TABS), ...toHistorySearch(raw) };
}

/** The page to open after sign-in: one of our paths, and nothing that a browser would read as another host. */
export function safeNext(next: string | undefined): string {
  if (!next || !URL.canParse(next, window.location.origin)) return "/";
  const url = new URL(next, window.location.origin);
  const isOurs = url.origin === window.location.origin && !url.pathname.startsWith("//");
  return isOurs ? url.pathname + url.search : "/";
}

/** The address of this page for the router, which takes the prefix off. */
export function nextHref(next: string | undefined): string {
  return pathPrefix() + safeNext(next);
}

function text<Name extends string>(raw: Raw, name: Name): Readonly<Partial<Record<Name, string>>> {
  const value = raw[name];
  // The router reads an unquoted 42 in the URL as a number, but the user searched for "42".
  const given = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return (typeof given === "string" && given ? { [name]: given } : {}) as Readonly<Partial<Record<Name, string>>>;
}

/** Several texts, whose names are divided by spaces. */
export function texts(raw: Raw, names: string): Readonly<Record<string, string>> {
  return Object.assign({}, ...names.split(" ").map((name) => text(raw, name))) as Record<string, string>;
}

/** The first choice is the default. */
function choice<Name extends string, Choice extends string>(
  raw: Raw,
  name: Name,
  choices: readonly Choice[],
): Readonly<Partial<Record<Name, Choice>>> {
  const found = choices.slice(1).find((each) => each === raw[name]);
  return (found ? { [name]: found } : {}) as Readonly<Partial<Record<Name, Choice>>>;
}
