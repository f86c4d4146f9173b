/** When an SDK key was last used and who used it in the last 24 hours, which is kept up to date. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { keyCallersQuery } from "./callersCalls";
import type { Environment } from "../../api/client";
import { lineOf } from "../../api/problem";
import type { SdkKey } from "./sdkKeysCalls";
import { callerInWords, lastUseOf } from "./callers";
import { callers as callerTexts } from "./callersTexts";
import { sdkKeys as texts } from "./sdkKeysTexts";
import { tokens as tokenTexts } from "./tokensTexts";
import { When } from "../../ui/When";

const SHOWN = 5;

interface Props {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
}

/** Who uses a key, if it is known. */
export function useKeyCallers({ projectId, environment, sdkKey }: Props) {
  const path = { project_id: projectId, env_id: environment?.id ?? "" };
  return useQuery({ ...keyCallersQuery(path, sdkKey.id), enabled: environment !== undefined });
}

export function KeyUse(props: Props) {
  const { data, error } = useKeyCallers(props);
  return (
    <>
      <LastUse at={lastUseOf(props.sdkKey, data)} />
      <div role="status">
        {error && !data && (
          <Text size="sm" c="dimmed">
            {texts.usersNotKnown(lineOf(error))}
          </Text>
        )}
        {data?.length === 0 && <Text mt="xs">{texts.noUsers}</Text>}
        {data && data.length > 0 && (
          <>
            <Text mt="xs">{texts.users}</Text>
            <ul>
              {data.slice(0, SHOWN).map((each) => (
                <li key={callerInWords(each)} className="break">
                  {callerInWords(each)}: {callerTexts.rate(each.requests_per_minute, each.requests_last_24_hours)},{" "}
                  {texts.lastly} <When at={each.last_used_at} />
                </li>
              ))}
              {data.length > SHOWN && <li>{callerTexts.more(data.length - SHOWN)}</li>}
            </ul>
          </>
        )}
      </div>
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
