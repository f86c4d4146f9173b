/** Shows the calls with which an application sends events of a metric. */

import { Group, NativeSelect, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Environment, Project } from "../../api/client";
import type { Metric } from "./metricsCalls";
import { EVENT_LANGUAGES, eventCall, type EventLanguage } from "./eventCalls";
import { NO_KEY } from "../../ui/snippets";
import { metrics as texts } from "./metricsTexts";
import { CodeBlock } from "../../ui/CodeBlock";
import { AnchorLink } from "../../ui/links";
import { serverAddress } from "../../api/server";

interface Props {
  readonly project: Project;
  readonly environments: readonly Environment[];
  readonly metrics: readonly Metric[];
}

export function SendEvents({ project, environments, metrics }: Props) {
  const [language, setLanguage] = useState<EventLanguage>("curl");
  const [metricKey, setMetric] = useState("");
  const [environmentKey, setEnvironment] = useState("");
  const metric = metrics.find(({ key }) => key === metricKey) ?? metrics[0];
  const environment = environments.find(({ key }) => key === environmentKey) ?? environments[0];
  if (!metric || !environment) return null;
  const name = texts.languages[language];
  return (
    <section aria-label={texts.send}>
      <Stack gap="sm" maw={760} mt="xl">
        <div>
          <Title order={2}>{texts.send}</Title>
          <Text c="dimmed" size="sm">
            {texts.sendIntro}
          </Text>
        </div>
        <Group gap="sm" align="flex-end">
          <NativeSelect
            size="xs"
            maw="100%"
            label={texts.which}
            value={metric.key}
            data={metrics.map(({ key: value, name: label }) => ({ value, label }))}
            onChange={({ currentTarget: { value } }) => setMetric(value)}
          />
          <NativeSelect
            size="xs"
            maw="100%"
            label={texts.environment}
            value={environment.key}
            data={environments.map(({ key: value, name: label }) => ({ value, label }))}
            onChange={({ currentTarget: { value } }) => setEnvironment(value)}
          />
          <SegmentedControl
            size="xs"
            aria-label={texts.language}
            value={language}
            onChange={setLanguage}
            data={EVENT_LANGUAGES.map((value) => ({ value, label: texts.languages[value] }))}
          />
        </Group>
        <CodeBlock
          label={texts.call(name)}
          language={language === "curl" ? "bash" : language}
          code={eventCall(language, {
            address: serverAddress(),
            key: project.sdk_key ?? NO_KEY,
            environment: environment.key,
            metric,
          })}
        />
        <Text size="xs" c="dimmed">
          {project.sdk_key === null ? texts.key(NO_KEY) : texts.ownKey}{" "}
          <AnchorLink to="/projects/$projectId/sdk-keys" params={{ projectId: project.id }} inherit underline="always">
            {texts.toKeys}
          </AnchorLink>
          {". "}
          {texts.sendIds}
        </Text>
      </Stack>
    </section>
  );
}
