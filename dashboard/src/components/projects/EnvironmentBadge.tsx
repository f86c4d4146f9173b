/** An environment's name. A critical one is marked by shape and colour, so that it is not mistaken for another. */

import { IconBroadcast, IconFlask } from "../shared/icons";
import type { Environment } from "../../api/client";
import classes from "./EnvironmentBadge.module.css";

export function EnvironmentBadge({ environment }: { environment: Pick<Environment, "name" | "critical"> }) {
  return (
    <span className={classes.badge} data-critical={environment.critical || undefined} title={environment.name}>
      {environment.critical ? <IconBroadcast size={14} /> : <IconFlask size={14} />}
      <span className={classes.name}>{environment.name}</span>
    </span>
  );
}
