/** The sections of a project, as tabs that are links. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { environmentsQuery } from "../../api/environments";
import { lastEnvironment } from "../../lib/lastEnvironment";
import { t } from "../../texts";
import { SectionLinks } from "./SectionLinks";
import classes from "./Sections.module.css";

const BASE = "/projects/$projectId/environments/$environmentId";
const OF_ENVIRONMENTS = ["history", "changes", "applications"] as const;
const OF_PROJECTS = [
  ["segments", t.shell.segments],
  ["metrics", t.shell.metrics],
  ["members", t.shell.members],
  ["sdk-keys", t.shell.sdkKeys],
  ["tokens", t.shell.tokens],
  ["webhooks", t.shell.webhooks],
  ["settings", t.shell.settings],
] as const;

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
          {OF_ENVIRONMENTS.map((section) => (
            <Link
              key={section}
              to={`${BASE}/${section}`}
              params={params}
              className={classes.section}
              activeProps={activeProps}
            >
              {t.shell[section]}
            </Link>
          ))}
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
      {OF_PROJECTS.map(([section, label]) => (
        <Link
          key={section}
          to={`/projects/$projectId/${section}`}
          params={{ projectId }}
          className={classes.section}
          activeProps={activeProps}
        >
          {label}
        </Link>
      ))}
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
