/**
 * Flags by environment. On narrow screens, each flag is a block with a line for each environment.
 * Browsers do not treat such blocks as a table, so roles mark them as one.
 */

import { Link } from "@tanstack/react-router";
import type { Environment } from "../../api/client";
import type { ProjectFlag } from "../flags/flagCache";
import { flagIn } from "../flags/projectFlags";
import { differenceInWords } from "./projectFlagTable";
import { projectFlags as texts } from "../flags/projectFlagsTexts";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import { ProjectFlagCell } from "./ProjectFlagCell";
import classes from "./ProjectFlagTable.module.css";
import { Given } from "../../ui/Given";

/** With more, the columns are wider than the page, and the table scrolls within itself. */
const MOST_THAT_FIT = 5;

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly rows: readonly ProjectFlag[];
}

export function ProjectFlagTable({ projectId, environments, rows }: Props) {
  return (
    <div
      role="table"
      aria-label={texts.heading}
      className={classes.table}
      data-wide={environments.length > MOST_THAT_FIT || undefined}
      style={{ "--environments": environments.length } as React.CSSProperties}
    >
      <div role="rowgroup" className={classes.head}>
        <div role="row" className={classes.row}>
          <div role="columnheader" className={classes.flag}>
            {texts.flag}
          </div>
          {environments.map((each) => (
            <div key={each.id} role="columnheader">
              <EnvironmentBadge environment={each} />
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup">
        {rows.map((row) => (
          <div key={row.key} role="row" className={classes.row}>
            <RowHead projectId={projectId} environments={environments} row={row} />
            {environments.map((each) => (
              <ProjectFlagCell
                key={each.id}
                projectId={projectId}
                environment={each}
                flagKey={row.key}
                flag={flagIn(row, each)}
              />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The flag's name in the first environment that has it, as a link to its page there. */
function RowHead({ projectId, environments, row }: Omit<Props, "rows"> & { readonly row: ProjectFlag }) {
  const [first] = environments.flatMap((each) => flagIn(row, each) ?? []);
  const difference = differenceInWords(row.differs);
  return (
    <div role="rowheader" className={classes.flag}>
      {first && (
        <Link
          to="/projects/$projectId/environments/$environmentId/flags/$flagId"
          params={{ projectId, environmentId: first.environment_id, flagId: first.id }}
          className={classes.name}
        >
          <Given text={first.name} />
        </Link>
      )}
      <code className={classes.key}>{row.key}</code>
      {difference !== null && <span className={classes.differs}>{difference}</span>}
    </div>
  );
}
