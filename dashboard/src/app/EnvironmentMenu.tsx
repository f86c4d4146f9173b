/** The environment switcher. It is always visible, and keeps the current section, and the flag, by its key. */

import { Menu, Skeleton } from "@mantine/core";
import { IconCheck, IconPlus } from "../ui/icons";
import { useQuery } from "@tanstack/react-query";
import { useMatches } from "@tanstack/react-router";
import { useEffect } from "react";
import { environmentsQuery } from "../api/environments";
import { rememberEnvironment, shownEnvironment } from "../ui/lastEnvironment";
import { ENVIRONMENT as BASE } from "../ui/pages";
import { BY_KEY, useShownFlag } from "../features/flags/useShownFlag";
import { shellTexts } from "../ui/shellTexts";
import { EnvironmentBadge } from "../features/projects/EnvironmentBadge";
import classes from "./EnvironmentMenu.module.css";
import { HeaderMenu } from "../ui/HeaderMenu";
import { MenuItemLink } from "../ui/links";

const SECTIONS = ["releases", "history", "changes", "applications", "cleanup", "archived"] as const;

interface Props {
  readonly projectId: string;
  readonly environmentId: string | null;
}

export function EnvironmentMenu({ projectId, environmentId }: Props) {
  const { data: environments, isError } = useQuery(environmentsQuery(projectId));
  const section = useSection();
  const flag = useShownFlag();
  const current = shownEnvironment(projectId, environmentId, environments);
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
      <HeaderMenu
        label={shellTexts.switchEnvironment(current.name)}
        current={<EnvironmentBadge environment={current} inOneLine elsewhere={environmentId === null} />}
      >
        <Menu.Label>{shellTexts.environment}</Menu.Label>
        {environments.map((each) => {
          const params = { projectId, environmentId: each.id };
          const item = {
            rightSection: each.id === current.id && <IconCheck size={14} />,
            "aria-current": each.id === current.id || undefined,
            children: <EnvironmentBadge environment={each} />,
          };
          return flag ? (
            <MenuItemLink
              key={each.id}
              to={BY_KEY}
              params={{ ...params, ...flag.params }}
              search={flag.page}
              {...item}
            />
          ) : (
            <MenuItemLink key={each.id} to={section} params={params} {...item} />
          );
        })}
        <Menu.Divider />
        <MenuItemLink
          to="/projects/$projectId/settings"
          params={{ projectId }}
          hash="environments"
          leftSection={<IconPlus size={16} />}
        >
          {shellTexts.newEnvironment}
        </MenuItemLink>
      </HeaderMenu>
      {environmentId && current.critical && <div className={classes.strip} title={shellTexts.criticalNotice} />}
    </>
  );
}

function useSection() {
  const ids = useMatches({ select: (matches) => matches.map((match) => match.fullPath as string) });
  const section = SECTIONS.find((each) => ids.includes(`${BASE}/${each}`));
  return section ? (`${BASE}/${section}` as const) : BASE;
}
