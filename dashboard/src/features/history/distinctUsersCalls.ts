/** For how many users a flag was on and off, by day. */

import { queryOptions } from "@tanstack/react-query";
import { firstDay } from "../../ui/charts/periods";
import { client, type EnvironmentPath } from "../../api/client";
import { ask } from "../../api/problem";
import { SUMMARY } from "./historyCalls";
import { keyOf } from "../../api/queryKeys";

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
