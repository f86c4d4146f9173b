/** Flags that the palette turns on and off, in any environment of the project. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { environmentsQuery } from "../../api/environments";
import { permissionsQuery } from "../../api/members";
import type { ProjectFlag } from "../../features/flags/flagCache";
import { foundFlagsQuery } from "../../features/flags/projectFlagsCalls";
import { askIfCritical, type Switching, turn } from "../../features/flags/switchingCalls";
import { notifyRefused } from "../../api/notify";
import type { Action, Group } from "./paletteFilter";
import { readSwitchCommand, switchable, type Switchable, type SwitchCommand } from "./switchCommand";
import { reasonAgainst } from "../../ui/roles";
import { useDialog } from "../../ui/useDialog";
import { useShownFlag } from "../../features/flags/useShownFlag";
import { palette } from "./paletteTexts";
import { projectFlags } from "../../features/flags/projectFlagsTexts";
import { IconFlag, IconPower } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import type { Here } from "./palettePlaces";

const TurnOffEverywhere = lateDialog(() =>
  import("../../features/flagPage/TurnOffEverywhere").then((module) => module.TurnOffEverywhere),
);

const FLAG = "/projects/$projectId/environments/$environmentId/flags/$flagId";
const SHOWN_AT_ONCE = 12;
const TYPING_MILLISECONDS = 120;

/** What the palette shows if the query is about turning a flag on or off, else null; and the question that it asks. */
export function useSwitches({ projectId, environmentId }: Here, query: string) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const id = projectId ?? "";
  const { data: environments } = useQuery({ ...environmentsQuery(id), enabled: projectId !== null });
  const { data: own } = useQuery({ ...permissionsQuery(id), enabled: projectId !== null });
  const shown = useShownFlag();
  const [ended, setEnded] = useState<{ key: string; name: string } | null>(null);
  const question = useDialog();
  const command = projectId === null ? null : readSwitchCommand(query, environments ?? []);
  const meant = command?.flag === "" ? shown?.params.flagKey : command?.flag;
  const text = command && (meant ?? "");
  const [asked] = useDebouncedValue(text, TYPING_MILLISECONDS);
  const { data } = useQuery({ ...foundFlagsQuery(id, asked ?? ""), enabled: asked !== null && command !== null });
  // Results for an earlier text must not be used.
  const found = asked === text ? data : undefined;
  const dialog = ended && (
    <TurnOffEverywhere projectId={id} flagKey={ended.key} name={ended.name} {...question.props} />
  );
  return { switches: command && groupOf(found ? actionsOf(command, found) : []), dialog };

  function actionsOf(command: SwitchCommand, found: readonly ProjectFlag[]): Action[] {
    const wanted = switchable(command, found, environmentId);
    const acts = command.everywhere ? wanted.flatMap(endingOf) : wanted.flatMap((each) => turningOf(command, each));
    const inState = () =>
      switchable(command, found, environmentId, command.enabled).flatMap((each) => openingOf(command, each));
    return (acts.length > 0 ? acts : inState()).slice(0, SHOWN_AT_ONCE);
  }

  function turningOf({ enabled }: SwitchCommand, { key, flag, environmentId: placeId }: Switchable): Action[] {
    const place = placeOf(placeId);
    if (!place || reasonAgainst(own, "flags:write", place) !== null) return [];
    const path = { project_id: id, env_id: place.id };
    const refused = ({ enabled }: Switching, error: Error) =>
      notifyRefused(projectFlags.notSwitched(flag.name, place.name, enabled), error);
    const wanted = { flag, enabled };
    return [
      {
        id: flag.id,
        label: palette.turn(enabled, flag.name, place.name),
        description: key,
        leftSection: <IconPower size={18} />,
        onClick: () => askIfCritical(path, place, wanted, () => turn(cache, path, wanted, refused, place.name)),
      },
    ];
  }

  /** One entry for a flag, in the first environment where it is on and may be turned off. */
  function endingOf(
    { key, flag, environmentId: placeId }: Switchable,
    place: number,
    all: readonly Switchable[],
  ): Action[] {
    const environment = placeOf(placeId);
    if (!environment || reasonAgainst(own, "flags:write", environment) !== null) return [];
    if (all.findIndex((each) => each.key === key) !== place) return [];
    const ask = () => {
      setEnded({ key, name: flag.name });
      question.open();
    };
    return [
      {
        id: `everywhere-${key}`,
        label: palette.turnOffEverywhere(flag.name),
        description: key,
        leftSection: <IconPower size={18} />,
        onClick: ask,
      },
    ];
  }

  function openingOf({ enabled }: SwitchCommand, { key, flag, environmentId: placeId }: Switchable): Action[] {
    const place = placeOf(placeId);
    if (!place) return [];
    const params = { projectId: id, environmentId: place.id, flagId: flag.id };
    return [
      {
        id: `open-${flag.id}`,
        label: palette.alreadyIs(enabled, flag.name, place.name),
        description: key,
        leftSection: <IconFlag size={18} />,
        onClick: () => navigate({ to: FLAG, params }),
      },
    ];
  }

  function placeOf(placeId: string) {
    return environments?.find((environment) => environment.id === placeId);
  }
}

function groupOf(actions: readonly Action[]): Group<Action>[] {
  return actions.length > 0 ? [{ group: palette.actions, actions }] : [];
}
