/** Metrics that applications measure themselves and report in sums, with their values over time. */

import { queryOptions } from "@tanstack/react-query";
import type { Span } from "../../ui/charts/chartTimes";
import { client, type EnvironmentPath } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { keyOf } from "../../api/queryKeys";

type Schemas = components["schemas"];
export type RequestMetric = Schemas["RequestMetricOut"];
export type RequestChart = Schemas["RequestChartOut"];
export type Measure = RequestChart["measure"];

const BASE = "/api/projects/{project_id}/environments/{env_id}/request-metrics";
const CHART = `${BASE}/chart` as const;
const LOOK_MILLISECONDS = 15_000;

export interface ChartQuery {
  readonly name: string;
  readonly measure?: Measure;
  /** Only what was reported with all of these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The label whose values are separate lines. */
  readonly by?: string;
  readonly hours: number;
  /** A time instead of the last hours. */
  readonly span?: Span | null;
}

export function requestMetricsQuery(path: EnvironmentPath) {
  return { ...read(BASE, path), refetchInterval: LOOK_MILLISECONDS };
}

export function requestChartQuery(
  path: EnvironmentPath,
  { name, measure, labels, by, hours, span = null }: ChartQuery,
) {
  const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}:${value}`);
  return queryOptions({
    queryKey: keyOf(CHART, path, name, measure, label, by, hours, span),
    queryFn: ({ signal }) => {
      const since = new Date(span?.since ?? Date.now() - hours * 3_600_000).toISOString();
      const query = {
        name,
        since,
        ...(span && { until: new Date(span.until).toISOString() }),
        label,
        ...(measure && { measure }),
        ...(by && { by }),
      };
      return ask(client.GET(CHART, { params: { path, query }, signal }));
    },
    refetchInterval: LOOK_MILLISECONDS,
  });
}
