/** A project's home: the activity in each of its environments, and the latest changes. */

import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { newestChangesQuery } from "./overviewCalls";
import { permissionsQuery } from "../../api/members";
import { PinnedCharts } from "../history/PinnedCharts";
import { EnvironmentCard } from "./EnvironmentCard";
import classes from "./Overview.module.css";
import { RecentChanges } from "./RecentChanges";
import { Empty } from "../../ui/Empty";
import { IconFlask } from "../../ui/icons";
import { ButtonLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { reasonAgainst } from "../../ui/roles";
import { useEnvironments, useProject } from "../../ui/useHere";
import { overview as texts } from "./overviewTexts";
import { visibleProse } from "../../ui/givenText";

/** Each of these takes four requests. The others are loaded on demand. */
const SHOWN_AT_ONCE = 3;

export function OverviewPage() {
  const project = useProject();
  const environments = useEnvironments();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const maySeeChanges = own !== undefined && reasonAgainst(own, "audit:read") === null;
  const { data: changes } = useQuery({ ...newestChangesQuery(project.id), enabled: maySeeChanges });
  return (
    <Page
      title={texts.heading}
      intro={project.description && <span dir="auto">{visibleProse(project.description)}</span>}
    >
      {environments.length === 0 ? (
        <Empty icon={<IconFlask size={22} />} title={texts.emptyHeading} text={texts.emptyText}>
          <ButtonLink to="/projects/$projectId/settings" params={{ projectId: project.id }} hash="environments">
            {texts.emptyAction}
          </ButtonLink>
        </Empty>
      ) : (
        <Stack gap="xl">
          <ul className={classes.environments} aria-label={texts.environments}>
            {environments.map((each, place) => (
              <EnvironmentCard
                key={each.id}
                projectId={project.id}
                environment={each}
                changes={changes?.items}
                isOpen={place < SHOWN_AT_ONCE}
              />
            ))}
          </ul>
          <PinnedCharts projectId={project.id} />
          {changes && changes.items.length > 0 && <RecentChanges projectId={project.id} changes={changes.items} />}
        </Stack>
      )}
    </Page>
  );
}
