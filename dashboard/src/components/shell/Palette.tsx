/** The command palette: finds flags, environments, projects and pages by typing, and looks users up. */

import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData, spotlight } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import { IconBroadcast, IconFlag, IconFlask, IconGrid, IconMoon, IconSearch, IconShield } from "../shared/icons";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { environmentsQuery } from "../../api/environments";
import { favouritesQuery } from "../../api/favourites";
import { flagsQuery } from "../../api/flags";
import { ownAccountQuery } from "../../api/ownAccount";
import { projectsQuery } from "../../api/projects";
import { ADMIN_PAGES } from "../../lib/adminPages";
import { foundActions } from "../../lib/paletteFilter";
import { favouritesFirst } from "../../lib/favourites";
import { onPaletteWish, takeTyped } from "../../lib/paletteWish";
import { meantBy } from "../../lib/person";
import { BY_KEY, useShownFlag } from "../../lib/useShownFlag";
import { t } from "../../texts";
import { cleanup } from "../../texts/cleanup";
import { compare } from "../../texts/compare";
import { flagList } from "../../texts/flagList";
import { palette } from "../../texts/palette";
import { people } from "../../texts/people";
import classes from "./Palette.module.css";

interface Props {
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

const SHOWN_AT_ONCE = 12;
const BASE = "/projects/$projectId/environments/$environmentId";

export default function Palette(props: Props) {
  useEffect(() => {
    spotlight.open(); // it is only loaded when it was requested
    return onPaletteWish(spotlight.toggle);
  }, []);
  const [query, setQuery] = useState("");
  const actions = useActions(props);
  const usersMeantBy = useUserActions(props);
  return (
    <Spotlight
      actions={actions}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      // The list that is passed on is the one above.
      filter={() => foundActions(query, actions, SHOWN_AT_ONCE, usersMeantBy(query))}
      nothingFound={palette.nothing}
      highlightQuery
      scrollable
      maxHeight="60vh"
      overlayProps={{ blur: 0, backgroundOpacity: 0.45 }}
      classNames={{ action: classes.action }}
      attributes={{ content: { "aria-label": palette.label } }}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: palette.placeholder,
        "aria-label": palette.label,
        // What was typed before the field was there.
        onFocus: () => setQuery((typed) => takeTyped() || typed),
      }}
    />
  );
}

function useActions({ projectId, environmentId }: Props): SpotlightActionGroupData[] {
  const flags = useFlagActions(projectId, environmentId);
  const environments = useEnvironmentActions(projectId);
  const projects = useProjectActions();
  const pages = usePageActions(projectId, environmentId);
  const administration = useAdministrationActions();
  const appearance = useAppearanceActions();
  return [
    { group: palette.pages, actions: pages },
    { group: palette.environments, actions: environments },
    { group: palette.flags, actions: flags },
    { group: palette.projects, actions: projects },
    { group: t.adminPages.heading, actions: administration },
    { group: palette.appearance, actions: appearance },
  ].filter((each) => each.actions.length > 0);
}

/** The users whom a query can mean. The server cannot tell whether they are known before it is asked about them. */
function useUserActions({ projectId, environmentId }: Props) {
  const navigate = useNavigate();
  const { data: environments } = useQuery({ ...environmentsQuery(projectId ?? ""), enabled: projectId !== null });
  const key = environments?.find((each) => each.id === environmentId)?.key;
  return (query: string): SpotlightActionGroupData[] => {
    if (projectId === null) return [];
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

function useFlagActions(projectId: string | null, environmentId: string | null): SpotlightActionData[] {
  const navigate = useNavigate();
  const path = { project_id: projectId ?? "", env_id: environmentId ?? "" };
  const { data } = useQuery({ ...flagsQuery(path), enabled: environmentId !== null });
  const { data: favourites } = useQuery({ ...favouritesQuery(path.project_id), enabled: projectId !== null });
  return useMemo(
    () =>
      favouritesFirst(data ?? [], new Set(favourites), (flag) => flag).map((flag) => ({
        id: flag.id,
        label: flag.name,
        description: `${flag.key} · ${flag.enabled ? t.on : t.off}`,
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

function useEnvironmentActions(projectId: string | null): SpotlightActionData[] {
  const navigate = useNavigate();
  const flag = useShownFlag();
  const { data } = useQuery({ ...environmentsQuery(projectId ?? ""), enabled: projectId !== null });
  return (data ?? []).map((each) => ({
    id: each.id,
    label: each.name,
    description: each.key,
    leftSection: each.critical ? <IconBroadcast size={18} /> : <IconFlask size={18} />,
    onClick: () => {
      const params = { projectId: projectId ?? "", environmentId: each.id };
      return flag
        ? navigate({ to: BY_KEY, params: { ...params, ...flag.params }, search: flag.page })
        : navigate({ to: BASE, params });
    },
  }));
}

function useProjectActions(): SpotlightActionData[] {
  const navigate = useNavigate();
  const { data } = useQuery(projectsQuery);
  return (data ?? []).map((each) => ({
    id: each.id,
    label: each.name,
    leftSection: <IconGrid size={18} />,
    onClick: () => navigate({ to: "/projects/$projectId", params: { projectId: each.id } }),
  }));
}

function usePageActions(projectId: string | null, environmentId: string | null): SpotlightActionData[] {
  const navigate = useNavigate();
  const params = { projectId: projectId ?? "", environmentId: environmentId ?? "" };
  const ofEnvironment: SpotlightActionData[] = [
    { id: "flags", label: t.shell.flags, onClick: () => navigate({ to: BASE, params }) },
    { id: "history", label: t.shell.history, onClick: () => navigate({ to: `${BASE}/history`, params }) },
    { id: "changes", label: t.shell.changes, onClick: () => navigate({ to: `${BASE}/changes`, params }) },
    { id: "releases", label: flagList.openReleases, onClick: () => navigate({ to: `${BASE}/releases`, params }) },
    { id: "cleanup", label: cleanup.heading, onClick: () => navigate({ to: `${BASE}/cleanup`, params }) },
  ];
  return [
    ...(environmentId === null ? [] : ofEnvironment),
    ...(projectId === null
      ? []
      : [
          {
            id: "all-environments",
            label: t.shell.allEnvironments,
            onClick: () => navigate({ to: "/projects/$projectId/flags", params }),
          },
          {
            id: "segments",
            label: t.shell.segments,
            onClick: () => navigate({ to: "/projects/$projectId/segments", params }),
          },
          {
            id: "metrics",
            label: t.shell.metrics,
            onClick: () => navigate({ to: "/projects/$projectId/metrics", params }),
          },
          {
            id: "compare",
            label: compare.heading,
            onClick: () => navigate({ to: "/projects/$projectId/compare", params }),
          },
          {
            id: "playground",
            label: t.flags.playground,
            onClick: () => navigate({ to: "/projects/$projectId/playground", params }),
          },
          {
            id: "members",
            label: t.shell.members,
            onClick: () => navigate({ to: "/projects/$projectId/members", params }),
          },
          {
            id: "sdk-keys",
            label: t.shell.sdkKeys,
            onClick: () => navigate({ to: "/projects/$projectId/sdk-keys", params }),
          },
          {
            id: "webhooks",
            label: t.shell.webhooks,
            onClick: () => navigate({ to: "/projects/$projectId/webhooks", params }),
          },
          {
            id: "tokens",
            label: t.shell.accessTokens,
            onClick: () => navigate({ to: "/projects/$projectId/tokens", params }),
          },
          {
            id: "settings",
            label: t.shell.settings,
            onClick: () => navigate({ to: "/projects/$projectId/settings", params }),
          },
        ]),
    { id: "projects", label: t.shell.allProjects, onClick: () => navigate({ to: "/" }) },
  ];
}

function useAdministrationActions(): SpotlightActionData[] {
  const navigate = useNavigate();
  const { data: own } = useQuery(ownAccountQuery);
  if (!own?.administrator) return [];
  return ADMIN_PAGES.map(({ to, name }) => ({
    id: to,
    label: palette.adminPage(name),
    leftSection: <IconShield size={18} />,
    onClick: () => navigate({ to }),
  }));
}

function useAppearanceActions(): SpotlightActionData[] {
  const { setColorScheme } = useMantineColorScheme();
  const schemes = [
    ["light", t.shell.light],
    ["dark", t.shell.dark],
    ["auto", t.shell.system],
  ] as const;
  return schemes.map(([scheme, name]) => ({
    id: `scheme-${scheme}`,
    label: palette.schemeAction(name.toLowerCase()),
    leftSection: <IconMoon size={18} />,
    onClick: () => setColorScheme(scheme),
  }));
}
