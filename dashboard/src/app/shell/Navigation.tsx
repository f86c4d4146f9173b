/**
 * The pages of the environment, the project and the instance, in a group for each of these levels.
 *
 * It is beside the page or, if there is no room, opens below the header as a popover.
 */

import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps, useParams } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
import { environmentsQuery } from "../../api/environments";
import { ownAccountQuery } from "../../features/identity/ownAccountCalls";
import { projectQuery } from "../../api/projects";
import { shownEnvironment } from "../../ui/lastEnvironment";
import {
  ENVIRONMENT,
  OF_ADMINISTRATORS,
  OF_ENVIRONMENT,
  OF_INSTANCE,
  OF_PROJECT,
  PROJECT_SETTINGS,
} from "../../ui/pages";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { shellTexts } from "../../ui/shellTexts";
import { Given } from "../../ui/Given";
import { IconBroadcast } from "../../ui/icons";
import classes from "./Navigation.module.css";

export const NAVIGATION = "navigation";

interface Props {
  readonly projectId: string | undefined;
  readonly environmentId: string | undefined;
  /** Whether the page is one for administrators. */
  readonly administers: boolean;
}

export function Navigation({ projectId, environmentId, administers }: Props) {
  const { data: own } = useQuery(ownAccountQuery);
  const close = ({ target, currentTarget }: MouseEvent<HTMLElement>) => {
    if ((target as Element).closest("a")) currentTarget.togglePopover(false);
  };
  return (
    <nav id={NAVIGATION} popover="auto" className={classes.navigation} aria-label={shellTexts.sections} onClick={close}>
      {projectId && <OfProject projectId={projectId} environmentId={environmentId} />}
      {administers && own?.administrator && (
        <Level level={adminPagesTexts.heading}>
          <Pages pages={OF_ADMINISTRATORS} />
        </Level>
      )}
      <Level level={shellTexts.instance}>
        <Pages pages={OF_INSTANCE} />
        {own?.administrator && !administers && <Pages pages={[["/admin/accounts", adminPagesTexts.heading]]} />}
      </Level>
    </nav>
  );
}

function OfProject({ projectId, environmentId }: Omit<Props, "administers"> & { readonly projectId: string }) {
  const { data: project } = useQuery(projectQuery(projectId));
  const { data: environments } = useQuery(environmentsQuery(projectId));
  const environment = shownEnvironment(projectId, environmentId, environments);
  return (
    <>
      {environment && (
        <Level level={shellTexts.environment} name={environment.name} critical={environment.critical}>
          <Pages pages={OF_ENVIRONMENT} params={{ projectId, environmentId: environment.id }} />
        </Level>
      )}
      <Level level={shellTexts.project} name={project?.name}>
        <Pages pages={OF_PROJECT} params={{ projectId }} />
        <Pages pages={PROJECT_SETTINGS} params={{ projectId }} />
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
  return (
    <div role="group" className={classes.level} aria-label={name === undefined ? level : `${level} ${name}`}>
      <p className={classes.heading} data-critical={critical || undefined}>
        {level}
        <span className={classes.name}>
          {critical && <IconBroadcast size={14} />}
          {name !== undefined && <Given text={name} />}
        </span>
      </p>
      {children}
    </div>
  );
}

interface PagesProps {
  readonly pages: readonly (readonly [NonNullable<LinkProps["to"]>, string])[];
  readonly params?: { readonly projectId: string; readonly environmentId?: string };
}

function Pages({ pages, params = { projectId: "" } }: PagesProps) {
  const onFlag = useParams({ strict: false }).flagId !== undefined;
  return (
    <div className={classes.pages}>
      {pages.map(([to, name]) => (
        <Link
          key={to}
          to={to}
          params={params}
          className={classes.page}
          activeOptions={{ exact: !to.startsWith("/admin"), includeSearch: false }}
          activeProps={{ "aria-current": "page" }}
          data-current={(onFlag && to === ENVIRONMENT) || undefined}
        >
          {name}
        </Link>
      ))}
    </div>
  );
}
