/**
 * An environment's name. A critical one is marked by shape and colour, so that it is not mistaken for another. A long
 * name is wrapped, or cut off where there is only one line.
 */

import { Given } from "../../ui/Given";
import { IconBroadcast, IconFlask } from "../../ui/icons";
import type { Environment } from "../../api/client";
import classes from "./EnvironmentBadge.module.css";

interface Props {
  readonly environment: Pick<Environment, "name" | "critical">;
  readonly inOneLine?: boolean;
  /** Whether the page is not one of this environment. */
  readonly elsewhere?: boolean;
}

export function EnvironmentBadge({ environment, inOneLine = false, elsewhere = false }: Props) {
  return (
    <span
      className={classes.badge}
      data-critical={environment.critical || undefined}
      data-line={inOneLine || undefined}
      data-elsewhere={elsewhere || undefined}
    >
      {environment.critical ? <IconBroadcast size={14} /> : <IconFlask size={14} />}
      <span className={classes.name}>
        <Given text={environment.name} />
      </span>
    </span>
  );
}
