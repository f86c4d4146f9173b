/** The flags of all environments of a project, by key. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf } from "../../api/queryKeys";
import { read } from "../../api/reads";
import { PROJECT_FLAGS, type ProjectFlag } from "./flagCache";
import { readParts } from "../../api/pagedReads";

export type FlagInBrief = components["schemas"]["FlagInBriefOut"];
export type Aspect = components["schemas"]["Aspect"];

const REFRESH_MILLISECONDS = 30_000;
const FOUND_AT_ONCE = 50;

/** The flags of a project, by key, in parts. */
export function projectFlagsQuery(projectId: string, { q = "", differs = false }: { q?: string; differs?: boolean }) {
  const filter = { ...(q && { q }), ...(differs && { differs }) };
  return { ...readParts(PROJECT_FLAGS, { project_id: projectId }, filter), refetchInterval: REFRESH_MILLISECONDS };
}

/** The flags with a key, in all environments; null if there are none. */
export function flagsOfKeyQuery(projectId: string, key: string) {
  return queryOptions({
    queryKey: keyOf(PROJECT_FLAGS, { project_id: projectId }, "key", key),
    queryFn: async ({ signal }): Promise<ProjectFlag | null> => {
      const params = { path: { project_id: projectId }, query: { key } };
      const [found] = await ask(client.GET(PROJECT_FLAGS, { params, signal }));
      return found ?? null;
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}

/** The first flags of a project whose key or name contains a text. */
export function foundFlagsQuery(projectId: string, q: string) {
  return read(PROJECT_FLAGS, { project_id: projectId }, { q, limit: FOUND_AT_ONCE });
}

/** The keys of the first flags of a project whose key or name contains a text. */
export function foundKeysQuery(projectId: string, q: string) {
  return queryOptions({
    ...foundFlagsQuery(projectId, q),
    select: (found) => found.map(({ key }) => key),
    placeholderData: keepPreviousData,
  });
}
