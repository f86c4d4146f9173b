/** The chart of a view of the history: one request, and another one for the environment that it is compared with. */

import { useQuery } from "@tanstack/react-query";
import type { Environment, EnvironmentPath } from "../../api/client";
import type { Predecessor } from "./historyCalls";
import { type ChartedFlag, chartQuery } from "./historyChartCalls";
import { charts as texts } from "./chartsTexts";
import { type Chart, chartOf } from "./chartBars";
import type { ChartView } from "./chartView";

interface Found {
  /** Undefined while it loads, and if it could not be loaded. */
  readonly chart: Chart | undefined;
  /** The deleted flags that had the key before, as far as they were evaluated in the time. */
  readonly predecessors: readonly Predecessor[];
  /** When, in milliseconds since 1970. */
  readonly loadedAt: number;
  readonly error: unknown;
  readonly retry: () => void;
}

export function useHistoryChart(
  path: EnvironmentPath,
  environment: Environment,
  flag: ChartedFlag,
  view: ChartView,
): Found {
  const own = useQuery(chartQuery(path, flag, view, view.before));
  const compared = view.other;
  const other = useQuery({
    ...chartQuery({ ...path, env_id: compared?.id ?? "" }, { flagKey: flag.flagKey }, view, false),
    enabled: compared !== null,
  });
  const retry = () => void Promise.all([own.refetch(), ...(compared ? [other.refetch()] : [])]);
  const loadedAt = own.dataUpdatedAt;
  if (!own.data || (compared !== null && !other.data)) {
    return { chart: undefined, predecessors: [], loadedAt, error: own.error ?? (compared && other.error), retry };
  }
  const theirs = compared && other.data ? { ...other.data, name: compared.name } : undefined;
  const name = theirs ? environment.name : texts.this;
  const chart = chartOf(own.data, { split: view.split, name, other: theirs });
  return { chart, predecessors: own.data.summary.predecessors, loadedAt, error: null, retry };
}
