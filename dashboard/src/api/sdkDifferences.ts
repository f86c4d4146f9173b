/** What SDKs that evaluate a flag inside the application answer differently. */

import { queryOptions } from "@tanstack/react-query";
import { client, type FlagPath } from "./client";
import { ask } from "./problem";

const DIFFERENCES = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/sdk-differences";

/** The key is one of the environment's changes, because those of rules and of other flags count as well. */
export function differencesQuery(path: FlagPath) {
  return queryOptions({
    queryKey: ["changes", path.env_id, "sdk-differences", path.flag_id],
    queryFn: ({ signal }) => ask(client.GET(DIFFERENCES, { params: { path }, signal })),
  });
}
