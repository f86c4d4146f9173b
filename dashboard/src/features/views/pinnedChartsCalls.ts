/** Pinned charts of a project: views of the history's chart with a name. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import { useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type PinnedChart = components["schemas"]["PinnedChartOut"];
export type NewPinnedChart = components["schemas"]["NewPinnedChart"];

const BASE = "/api/projects/{project_id}/pinned-charts";
const ONE = `${BASE}/{chart_id}` as const;
export const MOST_PINNED = 12;

export function pinnedChartsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

export function usePinChart(projectId: string) {
  return useMutation({
    mutationFn: (body: NewPinnedChart) => ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body })),
    onSettled: useRefresh(projectId),
  });
}

export function useRenamePinned(projectId: string) {
  return useMutation({
    mutationFn: ({ chart, name }: { chart: PinnedChart; name: string }) => {
      const params = at(chart);
      const body = { name };
      return saveShown(
        () => client.GET(ONE, { params }),
        chart,
        body,
        (tag) => ask(client.PUT(ONE, { params, body, ...ifMatch(tag) })),
      );
    },
    onSettled: useRefresh(projectId),
  });
}

/** Removes it, unless its state differs from the one that was shown. */
export function useUnpinChart(projectId: string) {
  return useMutation({
    mutationFn: (chart: PinnedChart) => {
      const params = at(chart);
      return saveShown(
        () => client.GET(ONE, { params }),
        chart,
        { ...chart },
        (tag) => ask(client.DELETE(ONE, { params, ...ifMatch(tag) })),
      );
    },
    onSettled: useRefresh(projectId),
  });
}

function at(chart: PinnedChart) {
  return { path: { project_id: chart.project_id, chart_id: chart.id } };
}

function useRefresh(projectId: string) {
  return useOutdating(pinnedChartsQuery(projectId));
}
