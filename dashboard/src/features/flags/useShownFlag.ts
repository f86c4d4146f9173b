/** The flag of the page, for links to the same flag in another environment. */

import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import type { Flag } from "../../api/client";
import { toFlagPage } from "../../ui/search";
import { FLAG } from "./flagCache";
import { keyOf } from "../../api/queryKeys";

/** The page that leads to the flag with a key, or says that the environment has none. */
export const BY_KEY = "/projects/$projectId/environments/$environmentId/flags/by-key/$flagKey";

/** The flag's key and the tab that is open; null on other pages, and while the flag is loading. */
export function useShownFlag() {
  const { projectId, environmentId, flagId, flagKey } = useParams({ strict: false });
  const { tab } = useSearch({ strict: false });
  // The data that the page loads. The frame of all pages does not contain the code for that.
  const { data } = useQuery<Flag>({
    queryKey: keyOf(FLAG, { project_id: projectId, env_id: environmentId, flag_id: flagId }),
    enabled: false,
  });
  const key = flagKey ?? data?.key;
  return key === undefined ? null : { params: { flagKey: key }, page: toFlagPage({ tab }) };
}
