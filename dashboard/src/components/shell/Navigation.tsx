/**
 * The pages of the environment, the project and the instance, in a group for each of these levels.
 *
 * It stands beside the page, or, where there is no room, opens below the header as a popover.
 */

import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps, useMatches, useParams } from "@tanstack/react-router";
import { type MouseEvent, type ReactNode, useId } from "react";
import { environmentsQuery } from "../../api/environments";
import { ownAccountQuery } from "../../api/ownAccount";
import { projectQuery } from "../../api/projects";
import { ADMIN_PAGES } from "../../lib/adminPages";
import { shownEnvironment } from "../../lib/lastEnvironment";
import {
  ADMINISTRATION,
  ENVIRONMENT,
  OF_ENVIRONMENT,
  OF_INSTANCE,
  OF_PROJECT,
  PROJECT,
  PROJECT_SETTINGS,
} from "../../lib/pages";
import { t } from "../../texts";
import { IconBroadcast } from "../shared/icons";
import classes from "./Navigation.module.css";

export const NAVIGATION = "navigation";

interface Props {
  readonly projectId: string | undefined;
  readonly environmentId: string | undefined;
}

export function Navigation({ projectId, environmentId }: Props) {
  const { data: own } = useQuery(ownAccountQuery);
  const administers = useMatches({ select: (matches) => matches.some(({ fullPath }) => fullPath === "/admin") });
  const close = ({ target, currentTarget }: MouseEvent<HTMLElement>) => {
    if ((target as Element).closest("a")) currentTarget.togglePopover(false);
  };
  return (
    <nav id={NAVIGATION} popover="auto" className={classes.navigation} aria-label={t.shell.sections} onClick={close}>
      {projectId && <OfProject projectId={projectId} environmentId={environmentId} />}
      {administers && own?.administrator && (
        <Level level={t.adminPages.heading}>
          <Pages pages={ADMIN_PAGES.map(({ to, name }) => [to, name] as const)} />
        </Level>
      )}
      <Level level={t.shell.instance}>
        <Pages pages={own?.administrator ? [...OF_INSTANCE, ADMINISTRATION] : OF_INSTANCE} />
      </Level>
    </nav>
  );
}

function OfProject({ projectId, environmentId }: Props & { readonly projectId: string }) {
  const { data: project } = useQuery(projectQuery(projectId));
  const { data: environments } = useQuery(environmentsQuery(projectId));
  const environment = shownEnvironment(projectId, environmentId, environments);
  return (
    <>
      {environment && (
        <Level level={t.shell.environment} name={environment.name} critical={environment.critical}>
          <Pages pages={OF_ENVIRONMENT} params={{ projectId, environmentId: environment.id }} />
        </Level>
      )}
      <Level level={t.shell.project} name={project?.name}>
        <Pages pages={OF_PROJECT} params={{ projectId }} />
        <Pages label={t.shell.projectSettings} pages={PROJECT_SETTINGS} params={{ projectId }} />
      </Level>
    </>
  );
}

interface LevelProps {
  readonly level: string;
  readonly name?: string | undefined;
  readonly critical?: boolean;
  readonly children: ReactNode;
}

function Level({ level, name, critical = false, children }: LevelProps) {
  const id = useId();
  return (
    <div role="group" className={classes.level} aria-labelledby={id}>
      <p id={id} className={classes.heading} data-critical={critical || undefined}>
        <span className={classes.kind}>{level}</span>{" "}
        {name !== undefined && (
          <span className={classes.name} title={name}>
            {critical && <IconBroadcast size={13} />}
            {name}
          </span>
        )}
      </p>
      {children}
    </div>
  );
}

/** Pages below which there are others, which are not theirs. */
const EXACT: ReadonlySet<string> = new Set([ENVIRONMENT, PROJECT, "/", "/account"]);

interface PagesProps {
  readonly label?: string;
  readonly pages: readonly (readonly [NonNullable<LinkProps["to"]>, string])[];
  readonly params?: { readonly projectId: string; readonly environmentId?: string };
}

function Pages({ label, pages, params = { projectId: "" } }: PagesProps) {
  const onFlag = useParams({ strict: false }).flagId !== undefined;
  return (
    <div {...(label !== undefined && { role: "group", "aria-label": label })} className={classes.pages}>
      {pages.map(([to, name]) => (
        <Link
          key={to}
          to={to}
          params={params}
          className={classes.page}
          activeOptions={{ exact: EXACT.has(to), includeSearch: false }}
          activeProps={{ "aria-current": "page" }}
          data-current={(onFlag && to === ENVIRONMENT) || undefined}
        >
          {name}
        </Link>
      ))}
    </div>
  );
}
