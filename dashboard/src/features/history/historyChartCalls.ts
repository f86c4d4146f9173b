/** The summary that a chart of the history shows. */

import { queryOptions } from "@tanstack/react-query";
import { barTimes, type ChartTime, MOST_BARS } from "../../ui/charts/chartTimes";
import { client, type EnvironmentPath } from "../../api/client";
import { type Summary, SUMMARY } from "./historyCalls";
import { ask, Problem } from "../../api/problem";
import { keyOf } from "../../api/queryKeys";

const REFRESH_MILLISECONDS = 60_000;
/** The numbers of bars to try: the product of flags and intervals in a response is limited. */
const BARS = [MOST_BARS, MOST_BARS / 4, MOST_BARS / 16];

/** A summary and its request: while another one loads, the chart still shows the previous one. */
export interface Charted {
  readonly summary: Summary;
  readonly flagKey: string;
  /** Whether the first half is the period before. */
  readonly withBefore: boolean;
}

/** A key and, if not empty, an id: a flag that had the key before. An empty key means all flags together. */
export interface ChartedFlag {
  readonly flagKey: string;
  readonly flagId?: string;
}

/** Counts of one flag, or of all together, in the time and, if wanted, in the period before it. */
export function chartQuery(
  path: EnvironmentPath,
  { flagKey, flagId = "" }: ChartedFlag,
  { period, span, zone }: ChartTime,
  withBefore: boolean,
) {
  return queryOptions({
    queryKey: keyOf(SUMMARY, path, "chart", flagKey, flagId, span ?? period, zone, withBefore),
    queryFn: async ({ signal }): Promise<Charted> => {
      const load = async ([mostBars, ...fewer]: readonly number[]): Promise<Summary> => {
        const { since, until, interval } = barTimes({ period, span, zone }, Date.now(), withBefore, mostBars);
        const query = {
          since: new Date(since).toISOString(),
          until: new Date(until).toISOString(),
          interval,
          tz: zone,
          users: false,
          ...(flagKey === "" ? { total: true } : { flag_key: flagKey }),
          ...(flagId !== "" && { flag_id: flagId }),
        };
        try {
          return await ask(client.GET(SUMMARY, { params: { path, query }, signal }));
        } catch (error) {
          const hasTooManyFlags = error instanceof Problem && error.status === 400 && flagKey === "";
          if (!hasTooManyFlags || fewer.length === 0) throw error;
          return load(fewer);
        }
      };
      return { summary: await load(BARS), flagKey, withBefore };
    },
    refetchInterval: REFRESH_MILLISECONDS,
    placeholderData: (previous: Charted | undefined, query) =>
      query?.queryKey[1].env_id === path.env_id ? previous : undefined,
  });
}
