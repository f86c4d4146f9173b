/** The instance: its health, its size, and its quotas. */

import type { ReactNode } from "react";
import { Alert, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Instance as InstanceState, instanceQuery } from "./administrationCalls";
import { Facts } from "../../ui/Facts";
import { IconAlert, IconCheck } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { quotaInWords } from "./quotas";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration as texts } from "./administrationTexts";

export function InstancePage() {
  const { data: instance, error, refetch } = useQuery(instanceQuery);
  return (
    <Page title={adminPagesTexts.instance}>
      {error && !instance && <LoadFailed error={error} onRetry={refetch} />}
      {!instance && !error && <RowsSkeleton />}
      {instance && <Overview instance={instance} />}
    </Page>
  );
}

function Overview({ instance }: { instance: InstanceState }) {
  return (
    <Stack gap="xl" maw={820}>
      <Health instance={instance} />
      <Part title={texts.size}>
        <Facts
          facts={[
            [texts.version, instance.version],
            [texts.database, texts.databases[instance.database]],
            [adminPagesTexts.accounts, texts.accountsCount(instance.accounts, instance.active_accounts)],
            [adminPagesTexts.projects, instance.projects.toLocaleString("en")],
            [texts.openSessions, instance.sessions.toLocaleString("en")],
          ]}
        />
      </Part>
      <Part title={texts.tasks} intro={texts.tasksIntro}>
        <Facts
          facts={Object.entries(instance.tasks).map(([name, works]) => [name, works ? texts.works : texts.fails])}
        />
      </Part>
      <Part title={texts.quotas} intro={texts.quotasIntro}>
        <Facts
          facts={Object.entries(instance.quotas).map(([name, limit]) => [
            quotaInWords(name),
            limit.toLocaleString("en"),
          ])}
        />
      </Part>
    </Stack>
  );
}

function Health({ instance: { ready, problem } }: { instance: InstanceState }) {
  return (
    <Alert
      color={ready ? "live" : "alarm"}
      variant="light"
      icon={ready ? <IconCheck /> : <IconAlert />}
      title={ready ? texts.ready : texts.notReady}
    >
      {problem ?? texts.readyText}
    </Alert>
  );
}

function Part({ title, intro, children }: { title: string; intro?: string; children: ReactNode }) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2}>{title}</Title>
      {intro && <Text c="dimmed">{intro}</Text>}
      {children}
    </Stack>
  );
}
