/** Turns a flag off in all environments where it is on, after one question that names them. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Environment } from "../../api/client";
import { environmentsQuery } from "../../api/environments";
import { permissionsQuery } from "../../api/members";
import { type FlagInBrief, flagsOfKeyQuery } from "../flags/projectFlagsCalls";
import { turn } from "../flags/switchingCalls";
import type { DialogProps } from "../../ui/useDialog";
import { notifyRefused } from "../../api/notify";
import { reasonAgainst } from "../../ui/roles";
import { projectFlags } from "../flags/projectFlagsTexts";
import { turnOff as texts } from "../flags/turnOnTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly flagKey: string;
  readonly name: string;
}

export function TurnOffEverywhere({ projectId, flagKey, name, opened, onClose }: Props) {
  const cache = useQueryClient();
  const known = useWhereOn(projectId, flagKey);
  const on = known ?? [];
  const confirm = () => {
    for (const { flag, environment } of on) {
      const refused = (_: unknown, error: Error) =>
        notifyRefused(projectFlags.notSwitched(name, environment.name, false), error);
      const path = { project_id: projectId, env_id: environment.id };
      turn(cache, path, { flag, enabled: false }, refused, environment.name);
    }
    onClose();
    return Promise.resolve();
  };
  return (
    <ConfirmDialog
      title={texts.heading(name)}
      consequence={texts.consequence(on.map(({ environment }) => environment.name))}
      action={texts.action}
      onConfirm={confirm}
      opened={opened && known !== undefined} // it must not be answered before it can act
      onClose={onClose}
    />
  );
}

interface Place {
  readonly flag: FlagInBrief;
  readonly environment: Environment;
}

/** Where a flag is on and may be turned off, in the environments' order; undefined until that is known. */
function useWhereOn(projectId: string, flagKey: string): Place[] | undefined {
  const { data: environments } = useQuery(environmentsQuery(projectId));
  const { data: own } = useQuery(permissionsQuery(projectId));
  const { data: row } = useQuery(flagsOfKeyQuery(projectId, flagKey));
  if (!environments || row === undefined) return undefined;
  return environments.flatMap((environment) => {
    const flag = row?.flags.find((each) => each.environment_id === environment.id);
    const isOn = flag?.enabled === true && flag.archived_at === null;
    return isOn && reasonAgainst(own, "flags:write", environment) === null ? [{ flag, environment }] : [];
  });
}
