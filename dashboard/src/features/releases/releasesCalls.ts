/** The releases of a flag, or those of an environment that have not ended, and what was counted for them. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { isOpen } from "./releaseState";
import { client, type EnvironmentPath, type FlagPath } from "../../api/client";
import { refreshChanges } from "../flags/flagCache";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { allOf, outdate } from "../../api/queryKeys";

type Schemas = components["schemas"];
export type Release = Schemas["ReleaseOut"];
export type ReleaseStep = Schemas["StepOut"];
export type NewRelease = Schemas["NewRelease"];
export type Guard = Schemas["GuardOut"];
export type Threshold = Schemas["ThresholdOut"];
export type GuardAction = Guard["action"];
export type CountedKeys = Release["counts"];
export type Results = Schemas["ResultsOut"];
export type MetricResult = Schemas["MetricResultOut"];
export type ArmResult = Schemas["ArmResultOut"];
export type ChartPoint = Schemas["PointOut"];

const BASE = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/releases";
const ONE = `${BASE}/{release_id}` as const;
const RESULTS = `${ONE}/results` as const;
const OPEN_ONES = "/api/projects/{project_id}/environments/{env_id}/releases";
export const RELEASES = [BASE, OPEN_ONES, RESULTS] as const;

/** While a release is open. A page that is not visible does not poll. */
const LOOK_MILLISECONDS = 3_000;
const OVERVIEW_MILLISECONDS = 30_000;

export function releasesQuery(path: FlagPath) {
  return queryOptions({
    ...read(BASE, path),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? LOOK_MILLISECONDS : false),
  });
}

/** The releases of an environment that have not ended. */
export function openReleasesQuery(path: EnvironmentPath) {
  return { ...read(OPEN_ONES, path), refetchInterval: OVERVIEW_MILLISECONDS };
}

export function resultsQuery(path: FlagPath, release: Pick<Release, "id" | "state">) {
  return {
    ...read(RESULTS, { ...path, release_id: release.id }),
    refetchInterval: isOpen(release) ? LOOK_MILLISECONDS : (false as const),
  };
}

/** The users of a release, with the counts of each, as CSV that a spreadsheet can open without running formulas. */
export function exportUsers(path: FlagPath, releaseId: string): Promise<Blob> {
  const params = { ...at(path, releaseId), query: { form: "spreadsheet" as const } };
  return ask(client.GET(`${ONE}/users.csv`, { params, parseAs: "blob" }));
}

export function useCreateRelease(path: FlagPath) {
  return useMutation({
    mutationFn: (body: NewRelease) => ask(client.POST(BASE, { params: { path }, body })),
    onSettled: useRefresh(path),
  });
}

export type ReleaseAct = "pause" | "resume" | "cancel";

export function useActOnRelease(path: FlagPath, releaseId: string) {
  return useMutation({
    mutationFn: (act: ReleaseAct) => {
      const params = at(path, releaseId);
      switch (act) {
        case "pause":
          return ask(client.POST(`${ONE}/pause`, { params }));
        case "resume":
          return ask(client.POST(`${ONE}/resume`, { params }));
        case "cancel":
          return ask(client.POST(`${ONE}/cancel`, { params }));
      }
    },
    onSettled: useRefresh(path),
  });
}

function at(path: FlagPath, releaseId: string) {
  return { path: { ...path, release_id: releaseId } };
}

function useRefresh(path: FlagPath) {
  const cache = useQueryClient();
  return () => Promise.all([outdate(cache, ...allOf(RELEASES)), refreshChanges(cache, path)]);
}
