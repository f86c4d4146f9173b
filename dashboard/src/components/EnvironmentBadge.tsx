/** An environment by its name. Production is marked by shape, word and colour, so that it is never mistaken. */

import { IconBroadcast, IconFlask2 } from "@tabler/icons-react";
import type { Environment } from "../api/client";
import { isProduction } from "../api/environments";
import classes from "./EnvironmentBadge.module.css";

export function EnvironmentBadge({ environment }: { environment: Pick<Environment, "name" | "key"> }) {
  const production = isProduction(environment);
  return (
    <span className={classes.badge} data-production={production || undefined}>
      {production ? <IconBroadcast size={14} aria-hidden /> : <IconFlask2 size={14} aria-hidden />}
      <span className={classes.name}>{environment.name}</span>
    </span>
  );
}
