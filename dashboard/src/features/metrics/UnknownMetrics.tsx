/** The keys that events named although no metric has them. Shows nothing if there are none. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Environment } from "../../api/client";
import { unknownMetricsQuery } from "./metricsCalls";
import { metrics as texts } from "./metricsTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { Sheet } from "../../ui/DataTable";
import { When } from "../../ui/When";
import { MetricDialog } from "./MetricDialog";
import { Given } from "../../ui/Given";

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
              {
                head: texts.unknownKey,
                cell: ({ metric }) => (
                  <code className="mono">
                    <Given text={metric} />
                  </code>
                ),
              },
              {
                head: texts.unknownEnvironment,
                cell: (each) =>
                  environments.find(({ id }) => id === each.environment_id)?.name ?? texts.goneEnvironment,
              },
              {
                head: texts.unknownEvents,
                cell: ({ events }) => <span className="numbers">{events.toLocaleString("en")}</span>,
              },
              { head: texts.unknownLast, cell: ({ last_at: at }) => <When at={at} /> },
              {
                head: texts.unknownAction,
                cell: ({ metric }) => (
                  <GuardedButton
                    needs="segments:write"
                    variant="default"
                    size="compact-xs"
                    label={texts.unknownCreateOf(metric)}
                    onClick={() => setWanted(metric)}
                  >
                    {texts.unknownCreate}
                  </GuardedButton>
                ),
              },
            ]}
            rows={unknown}
            keyOf={(each) => `${each.environment_id} ${each.metric}`}
          />
        </div>
      )}
      <MetricDialog projectId={projectId} named={last} opened={wanted !== null} onClose={() => setWanted(null)} />
    </>
  );
}
