/** The places that the palette opens: flags, environments, projects, pages and users. */

import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { environmentsQuery } from "../../api/environments";
import { favouritesQuery } from "../../features/views/favouritesCalls";
import { flagsQuery } from "../../features/flags/flagsCalls";
import { ownAccountQuery } from "../../features/identity/ownAccountCalls";
import { projectsQuery } from "../../api/projects";
import { favouritesFirst } from "../../features/views/favourites";
import type { Action, Group } from "./paletteFilter";
import {
  ENVIRONMENT as BASE,
  OF_ADMINISTRATORS,
  OF_ENVIRONMENT,
  OF_INSTANCE,
  OF_PROJECT,
  PROJECT_SETTINGS,
} from "../../ui/pages";
import { meantBy } from "../../features/people/person";
import { BY_KEY, useShownFlag } from "../../features/flags/useShownFlag";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { common } from "../../ui/commonTexts";
import { shellTexts } from "../../ui/shellTexts";
import { palette } from "./paletteTexts";
import { people } from "../../features/people/peopleTexts";
import { IconBroadcast, IconFlag, IconFlask, IconGrid, IconMoon, IconSearch, IconShield } from "../../ui/icons";

/** The place that is open. */
export interface Here {
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

export function usePlaces(here: Here): Group<Action>[] {
  const flags = useFlagActions(here);
  const environments = useEnvironmentActions(here);
  const projects = useProjectActions();
  const pages = usePageActions(here);
  const administration = useAdministrationActions();
  const appearance = useAppearanceActions();
  return [
    { group: palette.pages, actions: pages },
    { group: palette.environments, actions: environments },
    { group: palette.flags, actions: flags },
    { group: palette.projects, actions: projects },
    { group: adminPagesTexts.heading, actions: administration },
    { group: palette.appearance, actions: appearance },
  ];
}

/**
 * The users whom a query can mean. The server cannot tell whether they are known before it is asked about them, so any
 * word can mean one. None is found before all places are loaded: it would be the first result, and stay selected when
 * the place that is meant arrives.
 */
export function useUserActions(here: Here) {
  const { projectId, environmentId } = here;
  const navigate = useNavigate();
  const environments = useEnvironments(here);
  const isLoading = [environments, useFlags(here), useQuery(projectsQuery)].some((each) => each.isLoading);
  const key = environments.data?.find((each) => each.id === environmentId)?.key;
  return (query: string): Group<Action>[] => {
    if (projectId === null || isLoading) return [];
    const actions = meantBy(query).map((person) => ({
      id: `user-${Object.keys(person).join()}`,
      label: person.email === undefined ? people.paletteId(person.id ?? "") : people.paletteEmail(person.email),
      leftSection: <IconSearch size={18} />,
      onClick: () =>
        navigate({
          to: "/projects/$projectId/user",
          params: { projectId },
          search: { ...person, ...(key !== undefined && { environment: key }) },
        }),
    }));
    return actions.length > 0 ? [{ group: people.paletteGroup, actions }] : [];
  };
}

function useEnvironments({ projectId }: Here) {
  return useQuery({ ...environmentsQuery(projectId ?? ""), enabled: projectId !== null });
}

function useFlags({ projectId, environmentId }: Here) {
  const path = { project_id: projectId ?? "", env_id: environmentId ?? "" };
  return useQuery({ ...flagsQuery(path), enabled: environmentId !== null });
}

function useFlagActions(here: Here): Action[] {
  const navigate = useNavigate();
  const { data } = useFlags(here);
  const { data: favourites } = useQuery({
    ...favouritesQuery(here.projectId ?? ""),
    enabled: here.projectId !== null,
  });
  return useMemo(
    () =>
      favouritesFirst(data ?? [], new Set(favourites), (flag) => flag).map((flag) => ({
        id: flag.id,
        label: flag.name,
        description: `${flag.key} · ${flag.enabled ? common.on : common.off}`,
        leftSection: <IconFlag size={18} />,
        onClick: () =>
          navigate({
            to: `${BASE}/flags/$flagId`,
            params: { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id },
          }),
      })),
    [data, favourites, navigate],
  );
}

function useEnvironmentActions(here: Here): Action[] {
  const navigate = useNavigate();
  const flag = useShownFlag();
  const { data } = useEnvironments(here);
  return (data ?? []).map((each) => ({
    id: each.id,
    label: palette.switchTo(each.name),
    description: each.key,
    leftSection: each.critical ? <IconBroadcast size={18} /> : <IconFlask size={18} />,
    onClick: () => {
      const params = { projectId: here.projectId ?? "", environmentId: each.id };
      return flag
        ? navigate({ to: BY_KEY, params: { ...params, ...flag.params }, search: flag.page })
        : navigate({ to: BASE, params });
    },
  }));
}

function useProjectActions(): Action[] {
  const navigate = useNavigate();
  const { data } = useQuery(projectsQuery);
  return (data ?? []).map((each) => ({
    id: each.id,
    label: each.name,
    leftSection: <IconGrid size={18} />,
    onClick: () => navigate({ to: "/projects/$projectId", params: { projectId: each.id } }),
  }));
}

function usePageActions({ projectId, environmentId }: Here): Action[] {
  const navigate = useNavigate();
  const params = { projectId: projectId ?? "", environmentId: environmentId ?? "" };
  const pages = [
    ...(environmentId === null ? [] : OF_ENVIRONMENT),
    ...(projectId === null ? [] : [...OF_PROJECT, ...PROJECT_SETTINGS]),
    ...OF_INSTANCE,
  ];
  return pages.map(([to, label]) => ({ id: to, label, onClick: () => navigate({ to, params }) }));
}

function useAdministrationActions(): Action[] {
  const navigate = useNavigate();
  const { data: own } = useQuery(ownAccountQuery);
  if (!own?.administrator) return [];
  return OF_ADMINISTRATORS.map(([to, name]) => ({
    id: to,
    label: palette.adminPage(name),
    leftSection: <IconShield size={18} />,
    onClick: () => navigate({ to }),
  }));
}

function useAppearanceActions(): Action[] {
  const { setColorScheme } = useMantineColorScheme();
  const schemes = [
    ["light", shellTexts.light],
    ["dark", shellTexts.dark],
    ["auto", shellTexts.system],
  ] as const;
  return schemes.map(([scheme, name]) => ({
    id: `scheme-${scheme}`,
    label: palette.schemeAction(name.toLowerCase()),
    leftSection: <IconMoon size={18} />,
    onClick: () => setColorScheme(scheme),
  }));
}
