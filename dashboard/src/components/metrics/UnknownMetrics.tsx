/** The keys that events named although no metric has them. Shows nothing if there are none. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Environment } from "../../api/client";
import { unknownMetricsQuery } from "../../api/metrics";
import { metrics as texts } from "../../texts/metrics";
import { GuardedButton } from "../shared/GuardedButton";
import { Sheet } from "../shared/Sheet";
import { When } from "../shared/When";
import { MetricDialog } from "./MetricDialog";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
}

export default function UnknownMetrics({ projectId, environments }: Props) {
  const { data: unknown } = useQuery(unknownMetricsQuery(projectId));
  const [wanted, setWanted] = useState<string | null>(null);
  const [last, setLast] = useState("");
  if (wanted !== null && wanted !== last) setLast(wanted);
  return (
    <>
      {unknown && unknown.length > 0 && (
        <div>
          <Title order={2} mt="xl">
            {texts.unknown}
          </Title>
          <Text c="dimmed" size="sm" mb="sm">
            {texts.unknownIntro}
          </Text>
          <Sheet
            label={texts.unknown}
            columns={[
              texts.unknownKey,
              texts.unknownEnvironment,
              texts.unknownEvents,
              texts.unknownLast,
              texts.unknownAction,
            ]}
            rows={unknown.map(({ environment_id: environmentId, metric, events, last_at: at }) => ({
              key: `${environmentId} ${metric}`,
              cells: [
                <code key="key" className="mono">
                  {metric}
                </code>,
                environments.find(({ id }) => id === environmentId)?.name ?? texts.goneEnvironment,
                <span key="events" className="numbers">
                  {events.toLocaleString("en")}
                </span>,
                <When key="last" at={at} />,
                <GuardedButton
                  key="create"
                  needs="segments:write"
                  variant="default"
                  size="compact-xs"
                  label={texts.unknownCreateOf(metric)}
                  onClick={() => setWanted(metric)}
                >
                  {texts.unknownCreate}
                </GuardedButton>,
              ],
            }))}
          />
        </div>
      )}
      <MetricDialog projectId={projectId} named={last} opened={wanted !== null} onClose={() => setWanted(null)} />
    </>
  );
}
