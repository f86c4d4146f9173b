/** Finds the flags that a restore turns on in critical environments. */

import type { Environment } from "../../api/client";
import type { Alteration } from "./restoresCalls";
import type { TurnedOn } from "../flags/turnOnRequest";

export interface TurnedOnFlags {
  readonly flags: readonly TurnedOn[];
  /** The names of the environments in which they are. */
  readonly environment: string;
}

/** Null if it turns none on. The users of a restored flag cannot be counted. */
export function turnedOnBy(
  alterations: readonly Alteration[],
  projectId: string,
  environments: readonly Environment[],
): TurnedOnFlags | null {
  const critical = new Map(environments.filter((each) => each.critical).map((each) => [each.id, each.name]));
  const found = alterations.filter((each) => each.turns_on && critical.has(each.environment_id ?? ""));
  if (found.length === 0) return null;
  const flags = found.map((each) => ({
    name: each.flag_key ?? "",
    path:
      each.action !== "flag.updated" && each.action !== "flag.toggled"
        ? null
        : { project_id: projectId, env_id: each.environment_id ?? "", flag_id: each.resource_id },
  }));
  const names = new Set(found.map((each) => critical.get(each.environment_id ?? "")));
  return { flags, environment: [...names].join(", ") };
}
