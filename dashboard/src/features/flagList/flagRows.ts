/** The rows of the flag list, filtered and sorted: each flag with its enabled rules and its last day. */

import type { Flag, Rule } from "../../api/client";
import type { Summary } from "../history/historyCalls";
import { isAudience, type RulesInForce, rulesInForceOf } from "../../ui/conditions/audience";
import { changedAt } from "../../ui/changedAt";
import { favouritesFirst } from "../views/favourites";
import type { FlagsSearch } from "../../ui/search";
import { secondsOf } from "../../ui/charts/periods";
import { type Bar, barsOf } from "../history/series";

export interface FlagRow {
  readonly flag: Flag;
  /** Null until the rules are known. */
  readonly rulesInForce: RulesInForce | null;
  readonly day: Day | null;
  readonly changedAt: string;
  /** The text to search, in lower case. */
  readonly text: string;
}

export interface Day {
  readonly bars: readonly Bar[];
  readonly on: number;
  readonly off: number;
  /** When the last interval with an evaluation ends, which may be in the future; null if there was none. */
  readonly lastSeen: number | null;
}

export function rowsOf(
  flags: readonly Flag[],
  rules: ReadonlyMap<string, readonly Rule[]> | undefined,
  summary: Summary | undefined,
): FlagRow[] {
  const silent: Day | null = summary ? { bars: barsOf(summary, []), on: 0, off: 0, lastSeen: null } : null;
  return flags.map((flag) => ({
    flag,
    rulesInForce: rules ? rulesInForceOf(rules.get(flag.id) ?? []) : null,
    day: summary && Object.hasOwn(summary.flags, flag.key) ? dayOf(summary, flag.key) : silent,
    changedAt: changedAt(flag, rules?.get(flag.id)),
    text: [flag.name, flag.key, flag.description ?? "", ...flag.tags].join("\n").toLowerCase(),
  }));
}

function dayOf(summary: Summary, key: string): Day {
  const intervals = summary.flags[key] ?? [];
  const step = secondsOf(summary.interval) * 1000;
  return {
    bars: barsOf(summary, intervals),
    on: intervals.reduce((sum, each) => sum + each.on, 0),
    off: intervals.reduce((sum, each) => sum + each.off, 0),
    lastSeen: intervals.reduce((last: number | null, each) => Math.max(last ?? 0, Date.parse(each.start) + step), null),
  };
}

/** Every word of the search must occur in the name, the key, a tag or the description. Favourites come first. */
export function selectRows(
  rows: readonly FlagRow[],
  search: FlagsSearch,
  favourites: ReadonlySet<string> = NONE,
): FlagRow[] {
  const words = (search.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(
    ({ flag, rulesInForce, day, text }) =>
      (!search.state || flag.enabled === (search.state === "on")) &&
      (!rulesInForce || isAudience(flag, rulesInForce, search.audience ?? "any")) &&
      (!search.tag || flag.tags.includes(search.tag)) &&
      (!search.owner || flag.owner === search.owner) &&
      (!search.favourites || favourites.has(flag.key)) &&
      (!search.seen || !day || (day.lastSeen !== null) === (search.seen === "day")) &&
      words.every((word) => text.includes(word)),
  );
  return favouritesFirst(sorted(found, search.sort), favourites, (row) => row.flag);
}

const NONE: ReadonlySet<string> = new Set();

/** The values to choose from in a filter: the most frequent ones and the chosen one, sorted by name. */
export function choicesOf(values: readonly string[], chosen: string | undefined, most = 50): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, most);
  const shown = new Set(frequent.map(([value]) => value));
  if (chosen !== undefined) shown.add(chosen);
  return [...shown].toSorted((a, b) => a.localeCompare(b));
}

function sorted(rows: FlagRow[], sort: FlagsSearch["sort"]): FlagRow[] {
  switch (sort) {
    case "name":
      return rows.sort((a, b) => a.flag.name.localeCompare(b.flag.name));
    case "changed":
      return rows.sort((a, b) => b.changedAt.localeCompare(a.changedAt));
    case "evaluated":
      return rows.sort((a, b) => total(b) - total(a));
    default:
      return rows; // the server lists the newest first
  }
}

function total({ day }: FlagRow): number {
  return day ? day.on + day.off : 0;
}
