/** A flag of an environment by its key: undefined while it is loading, and if there is none. */

import { useQuery } from "@tanstack/react-query";
import type { Environment, EnvironmentPath, Flag } from "../../api/client";
import { flagQuery } from "../flags/flagsCalls";
import { flagsOfKeyQuery } from "../flags/projectFlagsCalls";
import { flagIn } from "../flags/projectFlags";

export function useFlagOfKey(path: EnvironmentPath, environment: Environment, key: string): Flag | undefined {
  const { data: row } = useQuery({ ...flagsOfKeyQuery(path.project_id, key), enabled: key !== "" });
  const id = row ? flagIn(row, environment)?.id : undefined;
  return useQuery({ ...flagQuery({ ...path, flag_id: id ?? "" }), enabled: id !== undefined }).data;
}
