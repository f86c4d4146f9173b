/** Lists the results that differ in SDKs that evaluate the flag inside the application. Shows nothing if there are none. */

import { Anchor, List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FlagPath } from "../../api/client";
import { differencesQuery } from "./sdkDifferencesCalls";
import { hasDocs, serverAddress } from "../../api/server";
import { sdkDifferences as texts } from "./sdkDifferencesTexts";
import { IconAlert } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";

const REFERENCE = "/docs#/SDKs/list_sdk_differences";

export function SdkDifferences({ path }: { path: FlagPath }) {
  const { data } = useQuery(differencesQuery(path));
  if (!data || data.length === 0) return null;
  const isOff = data.some(({ effect }) => effect === "off");
  return (
    <section aria-label={texts.label}>
      <Unfold label={isOff ? texts.off : texts.unusual} icon={<IconAlert size={15} />}>
        <Text size="sm" c="dimmed">
          {texts.intro}
        </Text>
        <List size="sm">
          {data.map(({ effect, message, rule_id: rule }) => (
            <List.Item key={`${rule} ${message}`} className="break">
              <strong>{texts.effects[effect]}</strong> {message}
            </List.Item>
          ))}
        </List>
        {hasDocs() && (
          <Anchor href={serverAddress() + REFERENCE} target="_blank" size="sm">
            {texts.reference}
          </Anchor>
        )}
      </Unfold>
    </section>
  );
}
