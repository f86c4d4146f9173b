/** How long the guards of a release take to find a harm: of one that is open, and of one that might be created. */

import { queryOptions } from "@tanstack/react-query";
import { client, type FlagPath } from "../../api/client";
import { ask } from "../../api/problem";
import { keyOf } from "../../api/queryKeys";
import { read } from "../../api/reads";
import type { NewRelease, Release } from "./releasesCalls";
import type { components } from "../../api/schema";

export type Outlook = components["schemas"]["OutlookOut"];
export type GuardOutlook = components["schemas"]["GuardOutlookOut"];

const OF_DRAFT = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/outlook";
const OF_RELEASE = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/releases/{release_id}/outlook";
const LOOK_MILLISECONDS = 60_000;

export function outlookQuery(path: FlagPath, { id }: Pick<Release, "id">) {
  return {
    ...read(OF_RELEASE, { ...path, release_id: id }),
    staleTime: LOOK_MILLISECONDS,
    refetchInterval: LOOK_MILLISECONDS,
    retry: false,
  };
}

/** A release without guards finds nothing, and one that could not be created has no outlook. */
export function askedOutlookQuery(path: FlagPath, body: NewRelease) {
  return queryOptions({
    queryKey: keyOf(OF_DRAFT, path, JSON.stringify(body)),
    queryFn: ({ signal }) => ask(client.POST(OF_DRAFT, { params: { path }, body, signal })),
    enabled: (body.guards ?? []).length > 0,
    staleTime: LOOK_MILLISECONDS,
    retry: false,
  });
}

/** Checks a release as if it were created. */
export function askOutlook(path: FlagPath, body: NewRelease): Promise<Outlook> {
  return ask(client.POST(OF_DRAFT, { params: { path }, body }));
}
