/** The flags of all environments of a project, by key, in parts. */

import { readParts } from "./parts";
import { PATH, REFRESH_MILLISECONDS } from "./projectFlags";

export function projectFlagsQuery(projectId: string, { q = "", differs = false }: { q?: string; differs?: boolean }) {
  const filter = { ...(q && { q }), ...(differs && { differs }) };
  return {
    ...readParts(PATH, { project_id: projectId }, filter),
    refetchInterval: REFRESH_MILLISECONDS,
  };
}
