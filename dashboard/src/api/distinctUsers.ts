/** For how many users a flag was on and off, by day. */

import { queryOptions } from "@tanstack/react-query";
import { firstDay } from "../lib/users";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";

const SUMMARY = "/api/projects/{project_id}/environments/{env_id}/evaluations/summary";
const REFRESH_MILLISECONDS = 60_000;

/** For how many users a flag was on and off, on each of the last days and in all of them. */
export function usersQuery(path: EnvironmentPath, flagKey: string) {
  return queryOptions({
    queryKey: ["evaluations", path.env_id, "users", flagKey],
    queryFn: ({ signal }) => {
      const query = { since: firstDay(Date.now()), interval: "1d", flag_key: flagKey };
      return ask(client.GET(SUMMARY, { params: { path, query }, signal }));
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
