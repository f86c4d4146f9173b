/** A flag with the context that the parts of its page need. */

import type { Environment, Flag, FlagPath, Project, Rule } from "./client";

export interface FlagPlace {
  readonly project: Project;
  readonly environment: Environment;
  readonly path: FlagPath;
  readonly flag: Flag;
}

/** Whether a flag is archived. The previous release, which may answer during an upgrade, does not say. */
export function isArchived({ archived_at }: Flag): boolean {
  return typeof archived_at === "string";
}

/** The key of the draft of a part of a flag, which has a form of its own. */
export function draftOfFlag({ id }: Pick<Flag, "id">, part: "details" | "variants" | "prerequisites"): string {
  return `flag ${id} ${part}`;
}

/** The key of the draft of a rule, or of a new one. */
export function draftOfRule({ flag_id: flagId }: FlagPath, rule?: Rule): string {
  return `rule ${rule?.id ?? `of ${flagId}`}`;
}
