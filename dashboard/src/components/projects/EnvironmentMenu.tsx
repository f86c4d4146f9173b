/** The environment switcher. It is always visible, and keeps the current section. */

import { Menu, Skeleton } from "@mantine/core";
import { IconCheck, IconPlus } from "../shared/icons";
import { useQuery } from "@tanstack/react-query";
import { useMatches } from "@tanstack/react-router";
import { useEffect } from "react";
import { environmentsQuery, isProduction } from "../../api/environments";
import { lastEnvironment, rememberEnvironment } from "../../lib/lastEnvironment";
import { t } from "../../texts";
import { EnvironmentBadge } from "./EnvironmentBadge";
import classes from "./EnvironmentMenu.module.css";
import { HeaderMenu } from "../shell/HeaderMenu";
import { MenuItemLink } from "../shared/links";

interface Props {
  readonly projectId: string;
  readonly environmentId: string | null;
}

export function EnvironmentMenu({ projectId, environmentId }: Props) {
  const { data: environments, isError } = useQuery(environmentsQuery(projectId));
  const section = useSection();
  const shown = environmentId ?? lastEnvironment(projectId);
  const current = environments?.find((each) => each.id === shown) ?? environments?.[0];
  useEffect(() => {
    if (environmentId) rememberEnvironment(projectId, environmentId);
  }, [projectId, environmentId]);
  if (!environments) return isError ? null : <Skeleton h={24} w={100} mx={6} />;
  if (!current) return null;
  return (
    <>
      <span className={classes.slash} aria-hidden>
        /
      </span>
      <HeaderMenu label={t.shell.switchEnvironment(current.name)} current={<EnvironmentBadge environment={current} />}>
        <Menu.Label>{t.shell.environment}</Menu.Label>
        {environments.map((each) => (
          <MenuItemLink
            key={each.id}
            to={section}
            params={{ projectId, environmentId: each.id }}
            rightSection={each.id === current.id && <IconCheck size={14} />}
            aria-current={each.id === current.id || undefined}
          >
            <EnvironmentBadge environment={each} />
          </MenuItemLink>
        ))}
        <Menu.Divider />
        <MenuItemLink
          to="/projects/$projectId/settings"
          params={{ projectId }}
          hash="environments"
          leftSection={<IconPlus size={16} />}
        >
          {t.shell.newEnvironment}
        </MenuItemLink>
      </HeaderMenu>
      {environmentId && isProduction(current) && <div className={classes.strip} title={t.shell.productionNotice} />}
    </>
  );
}

function useSection() {
  const base = "/projects/$projectId/environments/$environmentId";
  const ids = useMatches({ select: (matches) => matches.map((match) => match.fullPath as string) });
  if (ids.includes(`${base}/history`)) return `${base}/history` as const;
  if (ids.includes(`${base}/changes`)) return `${base}/changes` as const;
  return base;
}
