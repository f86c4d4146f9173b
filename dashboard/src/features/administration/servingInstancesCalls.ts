/** The processes that serve from one database. */

import type { components } from "../../api/schema";
import { read } from "../../api/reads";

export type ServingInstance = components["schemas"]["ListedInstanceOut"];

const POLL_MILLISECONDS = 3_000;

export const servingInstancesQuery = { ...read("/api/instances"), refetchInterval: POLL_MILLISECONDS };
