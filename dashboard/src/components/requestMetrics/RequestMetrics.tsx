/** The request metrics of an environment, and a chart of one of them. */

import { Group, Select, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { EnvironmentPath } from "../../api/client";
import { type Measure, type RequestMetric, requestChartQuery, requestMetricsQuery } from "../../api/requestMetrics";
import { requestMetrics as texts } from "../../texts/requestMetrics";
import { RowsSkeleton } from "../shared/PageSkeleton";
import { LoadFailed } from "../shared/ProblemPage";
import { Sheet } from "../shared/Sheet";
import { When } from "../shared/When";
import { RequestChart } from "./RequestChart";

const HOURS = [1, 24, 168] as const;
type Hours = (typeof HOURS)[number];

export default function RequestMetrics({ path }: { path: EnvironmentPath }) {
  const { data, error, refetch } = useQuery(requestMetricsQuery(path));
  const first = data?.[0];
  return (
    <div>
      <Title order={2}>{texts.heading}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {texts.intro}
      </Text>
      {!data && (error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={2} />)}
      {data?.length === 0 && <Text>{texts.none}</Text>}
      {data && first && (
        <Stack gap="lg">
          <Charted path={path} metrics={data} first={first} />
          <Sheet
            label={texts.heading}
            columns={[texts.name, texts.kind, texts.labels, texts.seen]}
            rows={data.map((each) => ({
              key: `${each.name} ${each.kind}`,
              cells: [
                <span key="name">
                  <code>{each.name}</code> {each.help}
                </span>,
                texts.kinds[each.kind],
                Object.keys(each.labels).join(", "),
                <When key="when" at={each.seen_at} />,
              ],
            }))}
          />
        </Stack>
      )}
    </div>
  );
}

interface ChartedProps {
  readonly path: EnvironmentPath;
  readonly metrics: readonly RequestMetric[];
  /** The one that is shown until another is chosen. */
  readonly first: RequestMetric;
}

function Charted({ path, metrics, first }: ChartedProps) {
  const [name, setName] = useState<string | null>(null);
  const [measure, setMeasure] = useState<Measure | null>(null);
  const [by, setBy] = useState<string | null>(null);
  const [hours, setHours] = useState<Hours>(1);
  const metric = metrics.find((each) => each.name === name) ?? first;
  const shown = measure !== null && metric.measures.includes(measure) ? measure : metric.measures[0];
  const divided = by !== null && by in metric.labels ? by : null;
  const { data, error, refetch } = useChart(path, metric, shown, divided, hours);
  return (
    <div>
      <Group mb="sm" align="flex-end">
        <Select
          label={texts.name}
          data={[...new Set(metrics.map((each) => each.name))]}
          value={metric.name}
          allowDeselect={false}
          onChange={setName}
        />
        <Select
          label={texts.measure}
          data={metric.measures.map((value) => ({ value, label: texts.measures[value] }))}
          value={shown ?? null}
          allowDeselect={false}
          onChange={(value) => setMeasure(value)}
        />
        <Select
          label={texts.by}
          data={Object.keys(metric.labels)}
          value={divided}
          placeholder={texts.all}
          clearable
          onChange={setBy}
        />
        <Select
          label={texts.span}
          data={HOURS.map((each) => ({ value: String(each), label: texts.spans[each] }))}
          value={String(hours)}
          allowDeselect={false}
          onChange={(value) => setHours(HOURS.find((each) => String(each) === value) ?? 1)}
        />
      </Group>
      {!data && (error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={1} height={150} />)}
      {data && <RequestChart chart={data} label={`${metric.name}, ${texts.measures[data.measure].toLowerCase()}`} />}
    </div>
  );
}

function useChart(
  path: EnvironmentPath,
  metric: RequestMetric,
  measure: Measure | undefined,
  by: string | null,
  hours: Hours,
) {
  return useQuery(
    requestChartQuery(path, { name: metric.name, ...(measure && { measure }), ...(by !== null && { by }), hours }),
  );
}
