/** Says which SDK key a program contains, and creates one for it where there is none to show. */

import { Group, Text } from "@mantine/core";
import { useRef } from "react";
import type { Environment } from "../../api/client";
import { type CreatedSdkKey, type NewSdkKey, useCreateSdkKey } from "../credentials/sdkKeysCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { notifyRefused } from "../../api/notify";
import { usage as texts } from "./usageTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconPlus } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";

type Props = Pick<FlagPlace, "project" | "environment" | "flag"> & {
  readonly kind: NewSdkKey["kind"];
  readonly isOwn: boolean;
  readonly made: CreatedSdkKey | undefined;
  readonly onMade: (environment: Environment, key: CreatedSdkKey) => void;
};

export function UsageKey({ project, environment, flag, kind, isOwn, made, onMade }: Props) {
  const words = useRef<HTMLParagraphElement>(null);
  const isAsked = useRef(false); // the second click of two comes before `isPending`
  const { mutate, isPending } = useCreateSdkKey(project.id);
  const create = () => {
    if (isAsked.current) return;
    isAsked.current = true;
    mutate(
      { name: texts.keyName(flag.key, kind), environment: environment.key, kind },
      {
        onSuccess: (key) => {
          onMade(environment, key);
          words.current?.focus(); // the pressed button disappears
        },
        onError: (error) => notifyRefused(texts.notCreated, error),
        onSettled: () => {
          isAsked.current = false;
        },
      },
    );
  };
  const isMissing = !isOwn && !made;
  return (
    <>
      <Text ref={words} tabIndex={-1} size="sm" c="dimmed" className="break">
        {isOwn ? texts.ownKey : made ? texts.madeKey(made.name) : texts.noKey(kind, environment.name)}
      </Text>
      <Group gap="sm">
        {isMissing && (
          <GuardedButton
            needs="keys:rotate"
            variant="default"
            leftSection={<IconPlus size={16} />}
            loading={isPending}
            onClick={create}
          >
            {texts.createKey}
          </GuardedButton>
        )}
        <AnchorLink to="/projects/$projectId/sdk-keys" params={{ projectId: project.id }} size="sm">
          {texts.keys}
        </AnchorLink>
      </Group>
    </>
  );
}
