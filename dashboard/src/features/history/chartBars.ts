/** Converts summaries to the bars of a chart: one series, or two that are compared, in the same parts. */

import type { FlagInterval, Summary } from "./historyCalls";
import type { Charted } from "./historyChartCalls";
import { charts as texts } from "./chartsTexts";
import { type Colour, COLOURS, OFF_COLOUR, ON_COLOUR } from "./chartColours";
import type { Span } from "../../ui/charts/chartTimes";
import type { Scale, Split } from "./chartView";
import { secondsOf } from "../../ui/charts/periods";
import { inTotal, type ReasonCount, reasonsOf, startsOf } from "./series";

/** A part of each bar, from the bottom to the top. */
export interface Part {
  readonly key: string;
  readonly name: string;
  readonly colour: Colour;
  /** Parts beside each other differ by more than their colours. On and off are told apart by their brightness. */
  readonly isStriped: boolean;
}

export interface ChartBar {
  readonly start: number;
  readonly end: number;
  /** In the order of the parts. */
  readonly counts: readonly number[];
  readonly total: number;
}

export interface Series {
  readonly name: string;
  readonly bars: readonly ChartBar[];
}

export interface Chart {
  readonly parts: readonly Part[];
  /** Their bars stand side by side: as many, and each for about the same length of time. */
  readonly series: readonly Series[];
  /** The time zone of the bars. */
  readonly zone: string;
  readonly stepSeconds: number;
  /** The length of a bar, as the API has it. */
  readonly interval: string;
  /** The number of times that each reason was given in the first series. */
  readonly reasons: readonly ReasonCount[];
}

interface Other extends Charted {
  readonly name: string;
}

interface Named {
  readonly name: string;
  readonly intervals: readonly FlagInterval[];
  /** The starts of its bars, and the end of the last. */
  readonly bounds: readonly number[];
}

const MOST_PARTS = 5; // for which colours can be told apart; a sixth is for the others
const ON = "on";
const OFF = "off";
const REST = "rest";

/** The intervals of a flag in a summary, or with an empty key those of all flags together. */
function intervalsOf(summary: Summary, flagKey: string): readonly FlagInterval[] {
  if (flagKey === "") return inTotal(summary);
  return Object.hasOwn(summary.flags, flagKey) ? (summary.flags[flagKey] ?? []) : [];
}

/** The chart of a summary; `other` is another environment's. */
export function chartOf(
  { summary, flagKey, withBefore }: Charted,
  { split, name, other }: { readonly split: Split; readonly name: string; readonly other?: Other | undefined },
): Chart {
  // An environment with many flags has longer bars, in which the other one is added up.
  const summaries = [summary, ...(other ? [other.summary] : [])].toSorted((a, b) => stepOf(b) - stepOf(a));
  const longest = summaries[0] ?? summary;
  const all = [...startsOf(longest), Date.parse(longest.until)];
  const count = withBefore ? Math.floor((all.length - 1) / 2) : all.length - 1;
  const bounds = all.slice(-count - 1);
  const intervals = intervalsOf(summary, flagKey);
  const compared: Named[] = [{ name, intervals, bounds }];
  if (withBefore) compared.push({ name: texts.before, intervals, bounds: all.slice(-2 * count - 1, -count) });
  if (other) compared.push({ name: other.name, intervals: intervalsOf(other.summary, other.flagKey), bounds });
  const inside = compared.map((each) => ({ ...each, counted: countedIn(each, split) }));
  const parts = partsOf(
    inside.flatMap(({ counted }) => counted),
    split,
  );
  return {
    parts,
    series: inside.map(({ name: named, bounds: own, counted }) => ({
      name: named,
      bars: counted.map((counts, index) => barOf(own[index] ?? 0, own[index + 1] ?? 0, counts, parts)),
    })),
    zone: longest.tz,
    stepSeconds: stepOf(longest),
    interval: longest.interval,
    reasons: reasonsOf(intervals.filter((each) => Date.parse(each.start) >= (bounds[0] ?? 0))),
  };
}

/** The time of the first series. */
export function timeOf({ series }: Chart): Span {
  const bars = series[0]?.bars ?? [];
  return { since: bars[0]?.start ?? 0, until: bars.at(-1)?.end ?? 0 };
}

export function isEmpty({ series }: Chart): boolean {
  return series.every(({ bars }) => bars.every(({ total }) => total === 0));
}

type Counts = ReadonlyMap<string, number>;

function countedIn({ intervals, bounds }: Named, split: Split): Counts[] {
  const bars = bounds.slice(1).map(() => new Map<string, number>());
  for (const each of intervals) {
    const start = Date.parse(each.start);
    const bar = bars[bounds.findLastIndex((bound) => bound <= start)];
    if (bar) for (const [key, times] of countsOf(each, split)) bar.set(key, (bar.get(key) ?? 0) + times);
  }
  return bars;
}

const stepOf = ({ interval }: Summary) => secondsOf(interval);

function countsOf({ on, off, reasons, variants }: FlagInterval, split: Split): Counts {
  if (split === "reason") return new Map(Object.entries(reasons).map(([reason, count]) => [named(reason), count]));
  if (split === "result") return new Map([[ON, on], [OFF, off]]); // prettier-ignore
  const given = Object.entries(variants ?? {});
  const rest = on - given.reduce((sum, [, count]) => sum + count, 0);
  return new Map([...given.map(([key, count]) => [named(key), count] as const), [ON, Math.max(0, rest)], [OFF, off]]);
}

/** Variants and reasons may be named as anything, such as "off". */
const named = (text: string) => `=${text}`;

function partsOf(all: readonly Counts[], split: Split): Part[] {
  const sums = new Map<string, number>();
  for (const counts of all) for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  const known = [...sums].filter(([key]) => key.startsWith("=")).toSorted((a, b) => b[1] - a[1]);
  // Sorted by name, so that a part keeps its colour when another becomes more frequent.
  const most = known.slice(0, MOST_PARTS).toSorted(([a], [b]) => a.localeCompare(b));
  const shown = most.map(([key], place) => ({
    key,
    name: key.slice(1),
    colour: COLOURS[place] ?? OFF_COLOUR,
    isStriped: place % 2 === 1,
  }));
  const rest =
    known.length > MOST_PARTS
      ? [{ key: REST, name: texts.others[split], colour: COLOURS[MOST_PARTS] ?? OFF_COLOUR, isStriped: true }]
      : [];
  if (split === "reason") return [...shown, ...rest];
  const on = { key: ON, name: split === "result" ? texts.on : texts.noVariant, colour: ON_COLOUR, isStriped: false };
  const off = { key: OFF, name: texts.off, colour: OFF_COLOUR, isStriped: false };
  return [...shown, ...rest, ...(split === "result" || (sums.get(ON) ?? 0) > 0 ? [on] : []), off];
}

function barOf(start: number, end: number, counts: Counts, parts: readonly Part[]): ChartBar {
  const known = new Set(parts.map(({ key }) => key));
  const rest = [...counts].reduce(
    (sum, [key, count]) => (known.has(key) || !key.startsWith("=") ? sum : sum + count),
    0,
  );
  const found = parts.map(({ key }) => (key === REST ? rest : (counts.get(key) ?? 0)));
  return { start, end, counts: found, total: found.reduce((sum, count) => sum + count, 0) };
}

/** "30 on, 5 off"; in percent with their shares. Parts without evaluations are left out, except on and off. */
export function inWords({ counts, total }: Pick<ChartBar, "counts" | "total">, parts: readonly Part[], scale: Scale) {
  const said = parts
    .map(({ key, name }, index) => ({ key, name, count: counts[index] ?? 0 }))
    .filter(({ key, count }) => count > 0 || (parts.length === 2 && (key === ON || key === OFF)))
    .map(({ key, name, count }) => {
      const share = scale === "percent" && total > 0 ? ` (${percent(count, total)})` : "";
      const number = count.toLocaleString("en");
      return key.startsWith("=") || key === REST
        ? `${name} ${number}${share}`
        : `${number} ${name.toLowerCase()}${share}`;
    });
  return said.length > 0 ? said.join(", ") : texts.nothing;
}

/** The whole of a series. */
export function totalOf({ bars }: Series, parts: readonly Part[]): Pick<ChartBar, "counts" | "total"> {
  const counts = parts.map((_, index) => bars.reduce((sum, each) => sum + (each.counts[index] ?? 0), 0));
  return { counts, total: counts.reduce((sum, count) => sum + count, 0) };
}

export function percent(count: number, total: number): string {
  return `${((count / total) * 100).toFixed(1).replace(/\.0$/, "")}%`;
}

/** The value at the top of the chart. */
export function mostOf({ series }: Chart): number {
  return Math.max(1, ...series.flatMap(({ bars }) => bars.map(({ total }) => total)));
}
