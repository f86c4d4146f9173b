/** When an SDK key was last used and which SDK instances still use it, before it is revoked. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { connectionsQuery } from "../../api/connections";
import type { Environment } from "../../api/client";
import { type SdkKey, sdkKeysQuery } from "../../api/sdkKeys";
import { usersInWords } from "../../lib/keyUse";
import { sdkKeys as texts } from "../../texts/sdkKeys";
import { tokens as tokenTexts } from "../../texts/tokens";
import { When } from "../shared/When";

interface Props {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
}

export function KeyUse({ projectId, environment, sdkKey }: Props) {
  const path = { project_id: projectId, env_id: environment?.id ?? "" };
  const { data } = useQuery({ ...connectionsQuery(path), enabled: environment !== undefined });
  const { data: keys } = useQuery(sdkKeysQuery(projectId));
  return (
    <>
      <LastUse at={sdkKey.last_used_at} />
      {data && keys && environment && (
        <Text mt="xs" role="status">
          {usersInWords(
            data.connections,
            keys.filter((each) => each.environment === sdkKey.environment).length,
            environment.name,
          )}
        </Text>
      )}
      <Text mt="xs">{texts.revokeText}</Text>
    </>
  );
}

export function LastUse({ at }: { at: string | null }) {
  return (
    <Text fw={570}>
      {at === null ? (
        `${tokenTexts.neverUsed}.`
      ) : (
        <>
          {tokenTexts.lastUsed} <When at={at} />.
        </>
      )}
    </Text>
  );
}
