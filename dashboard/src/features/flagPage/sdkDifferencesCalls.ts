/** The results of a flag that differ in SDKs that evaluate it inside the application. */

import type { FlagPath } from "../../api/client";
import { read } from "../../api/reads";

const DIFFERENCES = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/sdk-differences";

export function differencesQuery(path: FlagPath) {
  return read(DIFFERENCES, path);
}
