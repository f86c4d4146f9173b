/** The choices for a chart of the history, as the URL and pinned charts have them. Unknown choices are ignored. */

import type { Environment } from "../../api/client";
import type { PinnedChart } from "../views/pinnedChartsCalls";
import { type ChartTime, spanOf } from "../../ui/charts/chartTimes";
import { type Bounded, PERIODS } from "../../ui/charts/periods";
import type { HistorySearch } from "../../ui/search";

export const SPLITS = ["result", "variant", "reason"] as const;
export const SCALES = ["count", "percent"] as const;
export type Split = (typeof SPLITS)[number];
export type Scale = (typeof SCALES)[number];

export interface ChartView extends ChartTime {
  readonly split: Split;
  readonly scale: Scale;
  /** Whether it is compared with the period before. */
  readonly before: boolean;
  /** The environment with which it is compared. */
  readonly other: Environment | null;
}

interface ChartPlace {
  /** The environment of the chart. */
  readonly here: string;
  readonly environments: readonly Environment[];
  readonly flagKey: string;
  readonly zone: string;
}

const BEFORE = "before";

/** All flags together have only results. */
export function chartViewOf(search: HistorySearch, { here, environments, flagKey, zone }: ChartPlace): ChartView {
  const period = search.period ?? "day";
  const before = search.compare === BEFORE;
  const other = environments.find((each) => each.key === search.with && each.id !== here);
  return {
    period: period === "all" ? "week" : period,
    span: spanOf(search),
    zone,
    split: SPLITS.find((each) => each === search.split && flagKey !== "") ?? "result",
    scale: SCALES.find((each) => each === search.scale) ?? "count",
    before,
    other: before ? null : (other ?? null),
  };
}

/** The comparisons to choose from: nothing, the period before, and other environments by their keys. */
export const COMPARISONS = { none: "", before: "-", ofEnvironment: (key: string) => key } as const;

export function comparisonOf({ before, other }: ChartView): string {
  return before ? COMPARISONS.before : (other?.key ?? COMPARISONS.none);
}

/** A chosen comparison as the URL has it. */
export function comparisonSearch(chosen: string): Pick<HistorySearch, "compare" | "with"> {
  return chosen === COMPARISONS.before ? { compare: BEFORE, with: "" } : { compare: "", with: chosen };
}

/** A pinned chart in the environments of its project, as the URL of its full view has it. */
export function searchOfPinned(chart: PinnedChart, environments: readonly Environment[]): HistorySearch {
  const other = environments.find((each) => each.id === chart.compare_environment_id);
  const period: Bounded | undefined = PERIODS.slice(1).includes(chart.period) ? chart.period : undefined;
  return {
    ...(period && { period }),
    ...(chart.split !== "result" && { split: chart.split }),
    ...(chart.scale !== "count" && { scale: chart.scale }),
    ...(chart.compare_before && { compare: BEFORE }),
    ...(other && { with: other.key }),
  };
}
