/** An environment's name. Production is marked by shape, word and colour, so that it is not mistaken for another. */

import { IconBroadcast, IconFlask } from "../shared/icons";
import type { Environment } from "../../api/client";
import { isProduction } from "../../api/environments";
import classes from "./EnvironmentBadge.module.css";

export function EnvironmentBadge({ environment }: { environment: Pick<Environment, "name" | "key"> }) {
  const production = isProduction(environment);
  return (
    <span className={classes.badge} data-production={production || undefined}>
      {production ? <IconBroadcast size={14} /> : <IconFlask size={14} />}
      <span className={classes.name}>{environment.name}</span>
    </span>
  );
}
