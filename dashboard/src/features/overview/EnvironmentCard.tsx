/** The activity in an environment, with links to the pages that show more. */

import { Button, Group, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Change } from "../../api/changes";
import type { Environment } from "../../api/client";
import { lastEnvironment } from "../../ui/lastEnvironment";
import { ENVIRONMENT } from "../../ui/pages";
import { overview as texts } from "./overviewTexts";
import { ButtonLink } from "../../ui/links";
import { EnvironmentActivity } from "./EnvironmentActivity";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import classes from "./Overview.module.css";

interface Props {
  readonly projectId: string;
  readonly environment: Environment;
  /** The newest ones of the project; undefined until they are known, or if they may not be seen. */
  readonly changes: readonly Change[] | undefined;
  /** Whether its activity is shown from the start. */
  readonly isOpen: boolean;
}

export function EnvironmentCard({ projectId, environment, changes, isOpen }: Props) {
  const [opened, setOpened] = useState(isOpen);
  const params = { projectId, environmentId: environment.id };
  return (
    <li className={classes.environment}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Title order={2} className={classes.name}>
          <EnvironmentBadge environment={environment} inOneLine />
        </Title>
        <Group gap="xs" wrap="nowrap">
          {lastEnvironment(projectId) === environment.id && (
            <Text size="xs" c="dimmed" className={classes.last}>
              {texts.last}
            </Text>
          )}
          <ButtonLink
            to={ENVIRONMENT}
            params={params}
            variant="default"
            size="compact-sm"
            aria-label={texts.flagsOf(environment.name)}
          >
            {texts.flags}
          </ButtonLink>
        </Group>
      </Group>
      {opened ? (
        <EnvironmentActivity projectId={projectId} environment={environment} changes={changes} />
      ) : (
        <Button
          variant="subtle"
          size="compact-sm"
          mt="sm"
          aria-label={texts.showOf(environment.name)}
          onClick={() => setOpened(true)}
        >
          {texts.show}
        </Button>
      )}
    </li>
  );
}
