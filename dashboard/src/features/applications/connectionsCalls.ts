/** The instances of applications that evaluate flags themselves, and which of them have the present state. */

import { queryOptions } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";

export type Connections = components["schemas"]["ConnectionsOut"];
export type Connection = components["schemas"]["ConnectionOut"];

const POLL_MILLISECONDS = 2_000;
const POLLED_FOR_MILLISECONDS = 60_000;

/**
 * While some do not have it, they are loaded again, for at most a minute after each change; otherwise as often as
 * `otherwise` says.
 */
export function connectionsQuery(path: EnvironmentPath, otherwise: number | false = false) {
  const seen = { revision: -1, since: 0 };
  return queryOptions({
    ...read("/api/projects/{project_id}/environments/{env_id}/connections", path),
    refetchInterval: ({ state: { data } }) => {
      if (!data || data.current === data.total) return otherwise;
      if (data.revision !== seen.revision) Object.assign(seen, { revision: data.revision, since: Date.now() });
      return Date.now() - seen.since < POLLED_FOR_MILLISECONDS ? POLL_MILLISECONDS : otherwise;
    },
  });
}
