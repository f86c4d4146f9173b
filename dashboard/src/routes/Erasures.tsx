/** Erasures of users of a project's applications: for its owners. */

import { Stack, Text, Title } from "@mantine/core";
import { useRef } from "react";
import { EarlierErasures } from "../components/erasures/EarlierErasures";
import { EraseUser } from "../components/erasures/EraseUser";
import { AnchorLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { useGuard } from "../lib/hooks/useGuard";
import { useProject } from "../lib/hooks/useHere";
import { erasures as texts } from "../texts/erasures";
import { settings } from "../texts/projects";

export function Erasures() {
  const { id: projectId } = useProject();
  const { reason } = useGuard({ needs: "users:erase" });
  const heading = useRef<HTMLHeadingElement>(null);
  const back = (
    <AnchorLink to="/projects/$projectId/settings" params={{ projectId }}>
      {settings.heading}
    </AnchorLink>
  );
  return (
    <Page title={texts.heading} intro={back}>
      <Stack gap="xl">
        <Text className="break">{texts.intro}</Text>
        <EraseUser projectId={projectId} onErased={() => heading.current?.focus()} />
        <Stack gap="sm">
          <Title order={2} ref={heading} tabIndex={-1}>
            {texts.earlier}
          </Title>
          {reason === null ? <EarlierErasures projectId={projectId} /> : <Text c="dimmed">{reason}</Text>}
        </Stack>
      </Stack>
    </Page>
  );
}
