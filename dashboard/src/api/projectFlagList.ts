/** The flags of all environments of a project, by key, in parts. */

import { client } from "./client";
import { partsQuery } from "./parts";
import { PATH, PROJECT_FLAGS, REFRESH_MILLISECONDS } from "./projectFlags";

export function projectFlagsQuery(projectId: string, { q = "", differs = false }: { q?: string; differs?: boolean }) {
  const filter = { ...(q && { q }), ...(differs && { differs }) };
  return {
    ...partsQuery([PROJECT_FLAGS, projectId, "list", q, String(differs)], (part, signal) =>
      client.GET(PATH, { params: { path: { project_id: projectId }, query: { ...part, ...filter } }, signal }),
    ),
    refetchInterval: REFRESH_MILLISECONDS,
  };
}
