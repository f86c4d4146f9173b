/** A flag with the context that the parts of its page need. */

import type { Environment, Flag, FlagPath, Project } from "../api/client";

export interface FlagPlace {
  readonly project: Project;
  readonly environment: Environment;
  readonly path: FlagPath;
  readonly flag: Flag;
}

/** Whether a flag is archived. The release before, which may answer during an upgrade, does not say. */
export function isArchived({ archived_at }: Flag): boolean {
  return typeof archived_at === "string";
}
