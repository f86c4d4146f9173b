/** Erasures of users of a project's applications: for its owners. */

import { Stack, Text, Title } from "@mantine/core";
import { useRef } from "react";
import { EarlierErasures } from "./EarlierErasures";
import { EraseUser } from "./EraseUser";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { useGuard } from "../../ui/useGuard";
import { useProject } from "../../ui/useHere";
import { erasures as texts } from "./erasuresTexts";
import { settings } from "../projects/projectsTexts";

export function ErasuresPage() {
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
