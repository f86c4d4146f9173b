/** Flags that the palette turns on and off, in any environment of the project. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { environmentsQuery } from "../../api/environments";
import { permissionsQuery } from "../../api/members";
import { foundFlagsQuery } from "../../api/projectFlags";
import { askIfCritical, type Switching, turn } from "../../api/switching";
import { notifyRefused } from "../../lib/notify";
import type { Action, Group } from "./paletteFilter";
import { readSwitchCommand, switchable, type Switchable } from "./switchCommand";
import { reasonAgainst } from "../../lib/roles";
import { useShownFlag } from "../../lib/hooks/useShownFlag";
import { palette } from "../../texts/palette";
import { projectFlags } from "../../texts/projectFlags";
import { IconPower } from "../shared/icons";
import type { Here } from "./palettePlaces";

const SHOWN_AT_ONCE = 12;
const TYPING_MILLISECONDS = 120;

/** Null if the query is not about turning a flag on or off. */
export function useSwitches({ projectId, environmentId }: Here, query: string): Group<Action>[] | null {
  const cache = useQueryClient();
  const id = projectId ?? "";
  const { data: environments } = useQuery({ ...environmentsQuery(id), enabled: projectId !== null });
  const { data: own } = useQuery({ ...permissionsQuery(id), enabled: projectId !== null });
  const shown = useShownFlag();
  const command = projectId === null ? null : readSwitchCommand(query, environments ?? []);
  const meant = command?.flag === "" ? shown?.params.flagKey : command?.flag;
  const text = command && (meant ?? "");
  const [asked] = useDebouncedValue(text, TYPING_MILLISECONDS);
  const { data } = useQuery({ ...foundFlagsQuery(id, asked ?? ""), enabled: asked !== null && command !== null });
  if (command === null) return null;
  // Results for an earlier text must not be used.
  const found = asked === text && data ? switchable(command, data, environmentId) : [];
  const actions = found.slice(0, SHOWN_AT_ONCE).flatMap((each) => actionOf(each));
  return actions.length > 0 ? [{ group: palette.actions, actions }] : [];

  function actionOf({ key, flag, environmentId: placeId }: Switchable): Action[] {
    const place = environments?.find((environment) => environment.id === placeId);
    if (!command || !place || reasonAgainst(own, "flags:write", place) !== null) return [];
    const path = { project_id: id, env_id: place.id };
    const refused = ({ enabled }: Switching, error: Error) =>
      notifyRefused(projectFlags.notSwitched(flag.name, place.name, enabled), error);
    const wanted = { flag, enabled: command.enabled };
    return [
      {
        id: flag.id,
        label: palette.turn(command.enabled, flag.name, place.name),
        description: key,
        leftSection: <IconPower size={18} />,
        onClick: () => askIfCritical(path, place, wanted, () => turn(cache, path, wanted, refused, place.name)),
      },
    ];
  }
}
