/** The signed-in account. */

import { queryOptions } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";

export const ownAccountQuery = queryOptions({
  queryKey: ["own-account"],
  queryFn: ({ signal }) => ask(client.GET("/api/me/account", { signal })),
});
