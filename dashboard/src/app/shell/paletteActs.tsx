/** The actions of the palette: creating a flag, copying the link of the page, showing the keyboard shortcuts, and signing out. */

import { useQuery } from "@tanstack/react-query";
import { signOut } from "../../features/identity/accountsCalls";
import { environmentsQuery } from "../../api/environments";
import { permissionsQuery } from "../../api/members";
import type { Action, Group } from "./paletteFilter";
import { requestKeys } from "../../ui/paletteRequests";
import { notifyDone } from "../../api/notify";
import { reasonAgainst } from "../../ui/roles";
import { useSingleKeys } from "../../ui/singleKeys";
import { write } from "../../ui/useCopying";
import { useDialog } from "../../ui/useDialog";
import { flagsTexts } from "../../features/flags/flagsTexts";
import { shellTexts } from "../../ui/shellTexts";
import { palette } from "./paletteTexts";
import { IconBook, IconCopy, IconLogout, IconPlus } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import type { Here } from "./palettePlaces";

const NewFlagDialog = lateDialog(() =>
  import("../../features/flags/NewFlagDialog").then((module) => module.NewFlagDialog),
);

export function useActs({ projectId, environmentId }: Here) {
  const creation = useDialog();
  const hasKeys = useSingleKeys();
  const enabled = projectId !== null;
  const { data: environments } = useQuery({ ...environmentsQuery(projectId ?? ""), enabled });
  const { data: own } = useQuery({ ...permissionsQuery(projectId ?? ""), enabled });
  const environment = environments?.find((each) => each.id === environmentId);
  const mayCreate = environment !== undefined && reasonAgainst(own, "flags:write", environment) === null;
  const newFlag: Action = {
    id: "new-flag",
    label: flagsTexts.new,
    ...(environment && { description: environment.name }),
    leftSection: <IconPlus size={18} />,
    onClick: creation.open,
  };
  const copyLink: Action = {
    id: "copy-link",
    label: palette.copyLink,
    leftSection: <IconCopy size={18} />,
    onClick: () => void write(location.href).then(() => notifyDone(palette.linkCopied)),
  };
  const keys: Action = {
    id: "keys",
    label: palette.keys,
    ...(hasKeys && { description: palette.keysHint }),
    leftSection: <IconBook size={18} />,
    onClick: requestKeys,
  };
  const leave: Action = {
    id: "sign-out",
    label: shellTexts.signOut,
    leftSection: <IconLogout size={18} />,
    onClick: () => void signOut(),
  };
  const acts: Group<Action> = {
    group: palette.actions,
    actions: [...(mayCreate ? [newFlag] : []), copyLink, keys, leave],
  };
  const dialogs = projectId !== null && environmentId !== null && (
    <NewFlagDialog key={environmentId} path={{ project_id: projectId, env_id: environmentId }} {...creation.props} />
  );
  return { acts, dialogs };
}
