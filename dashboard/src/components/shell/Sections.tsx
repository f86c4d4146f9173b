/** The sections of a project, as tabs that are links. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { environmentsQuery } from "../../api/environments";
import { lastEnvironment } from "../../lib/lastEnvironment";
import { t } from "../../texts";
import { SectionLinks } from "./SectionLinks";
import classes from "./Sections.module.css";

const BASE = "/projects/$projectId/environments/$environmentId";

export function Sections({ projectId, environmentId }: { projectId: string; environmentId: string | null }) {
  const { data: environments } = useQuery(environmentsQuery(projectId));
  const known = (id: string | null) => environments?.find((each) => each.id === id)?.id;
  const shown = environmentId ?? known(lastEnvironment(projectId)) ?? environments?.[0]?.id;
  const params = { projectId, environmentId: shown ?? "" };
  const activeProps = { "aria-current": "page" as const };
  return (
    <SectionLinks label={t.shell.sections}>
      {shown && (
        <>
          <FlagsLink params={params} />
          <Link to={`${BASE}/history`} params={params} className={classes.section} activeProps={activeProps}>
            {t.shell.history}
          </Link>
          <Link to={`${BASE}/changes`} params={params} className={classes.section} activeProps={activeProps}>
            {t.shell.changes}
          </Link>
          <Link to={`${BASE}/applications`} params={params} className={classes.section} activeProps={activeProps}>
            {t.shell.applications}
          </Link>
        </>
      )}
      <Link
        to="/projects/$projectId/flags"
        params={{ projectId }}
        className={classes.section}
        activeOptions={{ includeSearch: false }}
        activeProps={activeProps}
      >
        {t.shell.allEnvironments}
      </Link>
      <Link
        to="/projects/$projectId/segments"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.segments}
      </Link>
      <Link
        to="/projects/$projectId/members"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.members}
      </Link>
      <Link
        to="/projects/$projectId/sdk-keys"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.sdkKeys}
      </Link>
      <Link
        to="/projects/$projectId/tokens"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.tokens}
      </Link>
      <Link
        to="/projects/$projectId/webhooks"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.webhooks}
      </Link>
      <Link
        to="/projects/$projectId/settings"
        params={{ projectId }}
        className={classes.section}
        activeProps={activeProps}
      >
        {t.shell.settings}
      </Link>
    </SectionLinks>
  );
}

function FlagsLink({ params }: { params: { projectId: string; environmentId: string } }) {
  const onFlag = useParams({ strict: false }).flagId !== undefined;
  return (
    <Link
      to={BASE}
      params={params}
      className={classes.section}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
      data-current={onFlag || undefined}
    >
      {t.shell.flags}
    </Link>
  );
}
