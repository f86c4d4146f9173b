/** A flag in one of several environments. */

import type { Environment } from "../../api/client";
import type { ProjectFlag } from "./flagCache";
import type { FlagInBrief } from "./projectFlagsCalls";
import { audienceInShort } from "../../ui/conditions/audience";

export function flagIn(row: ProjectFlag, environment: Environment): FlagInBrief | undefined {
  return row.flags.find((each) => each.environment_id === environment.id);
}

export function audienceOf({ rules, prerequisites, ...flag }: FlagInBrief): string {
  return audienceInShort({ ...flag, prerequisites: { length: prerequisites } }, { count: rules });
}
