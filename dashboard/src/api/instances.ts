/** The processes that serve from one database. */

import { queryOptions } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type ServingInstance = components["schemas"]["ListedInstanceOut"];

const POLL_MILLISECONDS = 3_000;

export const instancesQuery = queryOptions({
  queryKey: ["administration", "instances"],
  queryFn: ({ signal }) => ask(client.GET("/api/instances", { signal })),
  refetchInterval: POLL_MILLISECONDS,
});
