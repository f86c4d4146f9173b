/** For how many users a flag was on and off, by day. */

import { queryOptions } from "@tanstack/react-query";
import { firstDay } from "../lib/charts/periods";
import { client, type EnvironmentPath } from "./client";
import { ask } from "./problem";
import { SUMMARY } from "./history";
import { keyOf } from "./queryKeys";

const REFRESH_MILLISECONDS = 60_000;

/** For how many users a flag was on and off, on each of the last days and in all of them. */
export function usersQuery(path: EnvironmentPath, flagKey: string) {
  return queryOptions({
    queryKey: keyOf(SUMMARY, path, "users", flagKey),
    queryFn: ({ signal }) => {
      const query = { since: firstDay(Date.now()), interval: "1d", flag_key: flagKey };
      return ask(client.GET(SUMMARY, { params: { path, query }, signal }));
    },
    refetchInterval: REFRESH_MILLISECONDS,
  });
}
