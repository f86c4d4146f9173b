/** The metrics of a project, which applications report in events, and the unknown ones that events named. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { ifMatch, type Tagged } from "../../api/states";
import { allOf, useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

type Schemas = components["schemas"];
export type Metric = Schemas["MetricOut"];
export type NewMetric = Schemas["NewMetric"];
export type UnknownMetric = Schemas["UnknownMetricOut"];

const BASE = "/api/projects/{project_id}/metrics";
const UNKNOWN = "/api/projects/{project_id}/unknown-metrics";
export const METRICS = [BASE, UNKNOWN] as const;
const LOOK_MILLISECONDS = 10_000;

export function metricsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

/** The keys that events of the last 90 days named although no metric has them. */
export function unknownMetricsQuery(projectId: string) {
  return {
    ...read(UNKNOWN, { project_id: projectId }),
    refetchInterval: LOOK_MILLISECONDS, // applications send events at any time
  };
}

export function useCreateMetric(projectId: string) {
  return useMutation({
    mutationFn: (body: NewMetric) => ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSuccess: useRefresh(projectId),
  });
}

export function useUpdateMetric(projectId: string, metricId: string) {
  return useMutation({
    mutationFn: ({ tag, ...body }: Partial<Omit<NewMetric, "key" | "kind">> & Tagged) =>
      ask(client.PUT(`${BASE}/{metric_id}`, { params: at(projectId, metricId), body, ...ifMatch(tag) })),
    onSuccess: useRefresh(projectId),
  });
}

export function useDeleteMetric(projectId: string, metricId: string) {
  return useMutation({
    mutationFn: ({ tag }: Tagged) =>
      ask<unknown>(client.DELETE(`${BASE}/{metric_id}`, { params: at(projectId, metricId), ...ifMatch(tag) })),
    onSuccess: useRefresh(projectId),
  });
}

function at(projectId: string, metricId: string) {
  return { path: { project_id: projectId, metric_id: metricId } };
}

function useRefresh(projectId: string) {
  return useOutdating(...allOf(METRICS, { project_id: projectId }));
}
