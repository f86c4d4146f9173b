/** The instances of applications that evaluate flags themselves, and which of them have the present state. */

import { queryOptions } from "@tanstack/react-query";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type Connections = components["schemas"]["ConnectionsOut"];
export type Connection = components["schemas"]["ConnectionOut"];

const POLL_MILLISECONDS = 2_000;
const POLLED_FOR_MILLISECONDS = 60_000;

/**
 * While some do not have it, they are asked for again, for at most a minute after each change; otherwise as often as
 * `otherwise` says.
 *
 * The key is one of the environment's changes, so that it is also asked for after each of them.
 */
export function connectionsQuery(path: EnvironmentPath, otherwise: number | false = false) {
  const seen = { revision: -1, since: 0 };
  return queryOptions({
    queryKey: ["changes", path.env_id, "connections"],
    queryFn: ({ signal }) =>
      ask(client.GET("/api/projects/{project_id}/environments/{env_id}/connections", { params: { path }, signal })),
    refetchInterval: ({ state: { data } }) => {
      if (!data || data.current === data.total) return otherwise;
      if (data.revision !== seen.revision) Object.assign(seen, { revision: data.revision, since: Date.now() });
      return Date.now() - seen.since < POLLED_FOR_MILLISECONDS ? POLL_MILLISECONDS : otherwise;
    },
  });
}
