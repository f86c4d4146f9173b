/** The flags of all environments of a project, by key. */

import { queryOptions } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import { PROJECT_FLAGS } from "./projectFlagCache";
import type { components } from "./schema";

export type ProjectFlag = components["schemas"]["ProjectFlagOut"];
export type FlagInBrief = components["schemas"]["FlagInBriefOut"];
export type Aspect = components["schemas"]["Aspect"];

export const PATH = "/api/projects/{project_id}/flags";
export const REFRESH_MILLISECONDS = 30_000;

/** The flags with a key, in all environments; null if there are none. */
export function flagsOfKeyQuery(projectId: string, key: string) {
  return queryOptions({
    queryKey: [PROJECT_FLAGS, projectId, "key", key],
    queryFn: async ({ signal }): Promise<ProjectFlag | null> => {
      const params = { path: { project_id: projectId }, query: { key } };
      const [found] = await ask(client.GET(PATH, { params, signal }));
      return found ?? null;
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
