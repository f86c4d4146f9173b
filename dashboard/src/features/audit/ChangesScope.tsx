/** Links the changes of an environment and those of its project, with the same filters. */

import type { Environment } from "../../api/client";
import type { ChangesSearch } from "../../api/changesFilter";
import { changesPage as texts } from "./changesPageTexts";
import { AnchorLink } from "../../ui/links";
import classes from "./ChangesScope.module.css";

interface Props {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly search: ChangesSearch;
}

export function ChangesScope({ projectId, environment, search }: Props) {
  const { environment: _, ...kept } = search;
  const link = { size: "sm", className: classes.link, activeOptions: { includeSearch: false } } as const;
  return (
    <nav aria-label={texts.scope} className={classes.scope}>
      {environment && (
        <AnchorLink
          {...link}
          to="/projects/$projectId/environments/$environmentId/changes"
          params={{ projectId, environmentId: environment.id }}
          search={kept}
        >
          {environment.name}
        </AnchorLink>
      )}
      <AnchorLink {...link} to="/projects/$projectId/audit" params={{ projectId }} search={kept}>
        {texts.project}
      </AnchorLink>
    </nav>
  );
}
