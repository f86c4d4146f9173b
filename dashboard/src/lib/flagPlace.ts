/** A flag with the context that the parts of its page need. */

import type { Environment, Flag, FlagPath, Project } from "../api/client";

export interface FlagPlace {
  readonly project: Project;
  readonly environment: Environment;
  readonly path: FlagPath;
  readonly flag: Flag;
}
