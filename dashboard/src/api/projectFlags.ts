/** The flags of all environments of a project, by key. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { keyOf } from "./keys";
import { read } from "./reads";

export type ProjectFlag = components["schemas"]["ProjectFlagOut"];
export type FlagInBrief = components["schemas"]["FlagInBriefOut"];
export type Aspect = components["schemas"]["Aspect"];

export const PATH = "/api/projects/{project_id}/flags";
export const REFRESH_MILLISECONDS = 30_000;
const FOUND_AT_ONCE = 50;

/** The flags with a key, in all environments; null if there are none. */
export function flagsOfKeyQuery(projectId: string, key: string) {
  return queryOptions({
    queryKey: keyOf(PATH, { project_id: projectId }, "key", key),
    queryFn: async ({ signal }): Promise<ProjectFlag | null> => {
      const params = { path: { project_id: projectId }, query: { key } };
      const [found] = await ask(client.GET(PATH, { params, signal }));
      return found ?? null;
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

/** The first flags of a project whose key or name contains a text. */
export function foundFlagsQuery(projectId: string, q: string) {
  return read(PATH, { project_id: projectId }, { q, limit: FOUND_AT_ONCE });
}

/** The keys of the first flags of a project whose key or name contains a text. */
export function foundKeysQuery(projectId: string, q: string) {
  return queryOptions({
    ...foundFlagsQuery(projectId, q),
    select: (found) => found.map(({ key }) => key),
    placeholderData: keepPreviousData,
  });
}
