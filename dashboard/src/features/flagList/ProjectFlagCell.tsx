/** A flag in one of several environments: its switch and its audience, or that it is not there. */

import { Link } from "@tanstack/react-router";
import type { Environment } from "../../api/client";
import { useSwitch } from "../flags/switchingCalls";
import type { FlagInBrief } from "../flags/projectFlagsCalls";
import { notifyRefused } from "../../api/notify";
import { audienceOf } from "../flags/projectFlags";
import { BY_KEY } from "../flags/useShownFlag";
import { environmentStrip } from "../flagPage/environmentStripTexts";
import { projectFlags as texts } from "../flags/projectFlagsTexts";
import classes from "./ProjectFlagTable.module.css";
import { StateSwitch } from "../flags/StateSwitch";

interface Props {
  readonly projectId: string;
  readonly environment: Environment;
  readonly flagKey: string;
  readonly flag: FlagInBrief | undefined;
}

const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

export function ProjectFlagCell({ projectId, environment, flagKey, flag }: Props) {
  const params = { projectId, environmentId: environment.id };
  const isLive = flag?.archived_at === null;
  const words = flag ? (isLive ? audienceOf(flag) : environmentStrip.archived) : environmentStrip.missing;
  const link = {
    className: classes.words,
    "aria-label": texts.openLabel(flag?.name ?? flagKey, environment.name, words),
    children: words,
  };
  return (
    <div
      role="cell"
      className={classes.cell}
      data-environment={environment.name}
      data-off={(isLive && !flag.enabled) || undefined}
      data-quiet={!isLive || undefined}
    >
      {isLive && <Switch projectId={projectId} environment={environment} flag={flag} />}
      {flag ? (
        <Link to={`${ENVIRONMENT}/flags/$flagId`} params={{ ...params, flagId: flag.id }} {...link} />
      ) : (
        <Link to={BY_KEY} params={{ ...params, flagKey }} {...link} />
      )}
    </div>
  );
}

type SwitchProps = Pick<Props, "projectId" | "environment"> & { readonly flag: FlagInBrief };

function Switch({ projectId, environment, flag }: SwitchProps) {
  const turn = useSwitch(
    { project_id: projectId, env_id: environment.id },
    environment,
    ({ enabled }, error) => notifyRefused(texts.notSwitched(flag.name, environment.name, enabled), error),
    environment.name,
  );
  return (
    <StateSwitch
      needs="flags:write"
      within={environment}
      on={flag.enabled}
      label={texts.switchLabel(flag.name, environment.name)}
      onChange={(enabled) => turn({ flag, enabled })}
    />
  );
}
