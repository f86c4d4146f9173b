/** A flag with everything around it that its page's parts need. */

import type { Environment, Flag, FlagPath, Project } from "../api/client";

export interface FlagPlace {
  readonly project: Project;
  readonly environment: Environment;
  readonly path: FlagPath;
  readonly flag: Flag;
}
