/** The request metrics of an environment, and a chart of one of them. */

import { Group, Select, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { EnvironmentPath } from "../../api/client";
import { type RequestMetric, requestChartQuery, requestMetricsQuery } from "./requestMetricsCalls";
import { fitted, type Span, spanSearch } from "../../ui/charts/chartTimes";
import { chosenChart, HOURS, type RequestMetricsSearch, toRequestMetricsSearch } from "./requestMetricsSearch";
import { requestMetrics as texts } from "./requestMetricsTexts";
import { ChartTools } from "../history/ChartTools";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { Sheet } from "../../ui/DataTable";
import { When } from "../../ui/When";
import { RequestChart } from "./RequestChart";
import { Given } from "../../ui/Given";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/applications");

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
            columns={[
              {
                head: texts.name,
                cell: ({ name, help }) => (
                  <span>
                    <code>
                      <Given text={name} />
                    </code>{" "}
                    <Given text={help} />
                  </span>
                ),
              },
              { head: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
              { head: texts.labels, cell: ({ labels }) => Object.keys(labels).join(", ") },
              { head: texts.seen, cell: ({ seen_at: at }) => <When at={at} /> },
            ]}
            rows={data}
            keyOf={({ name, kind }) => `${name} ${kind}`}
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
  const [search, change] = useUrlState(route, toRequestMetricsSearch);
  const { metric, measure, by, hours, span } = chosenChart(search, metrics, first);
  const choose = (part: RequestMetricsSearch) => change({ ...search, ...part });
  const { data, error, refetch } = useQuery(
    requestChartQuery(path, {
      name: metric.name,
      ...(measure && { measure }),
      ...(by !== null && { by }),
      hours,
      span,
    }),
  );
  const zoom = (wanted: Span) => choose(spanSearch(fitted(wanted, Date.now())));
  return (
    <div>
      <Group mb="sm" align="flex-end">
        <Select
          label={texts.name}
          data={[...new Set(metrics.map((each) => each.name))]}
          value={metric.name}
          allowDeselect={false}
          onChange={(name) => name !== null && choose({ metric: name })}
        />
        <Select
          label={texts.measure}
          data={metric.measures.map((value) => ({ value, label: texts.measures[value] }))}
          value={measure ?? null}
          allowDeselect={false}
          onChange={(value) => value !== null && choose({ measure: value })}
        />
        <Select
          label={texts.by}
          data={Object.keys(metric.labels)}
          value={by}
          placeholder={texts.all}
          clearable
          onChange={(value) => choose({ by: value ?? undefined })}
        />
        <Select
          label={texts.span}
          data={HOURS.map((each) => ({ value: String(each), label: texts.spans[each] }))}
          value={String(hours)}
          allowDeselect={false}
          onChange={(value) => choose({ hours: Number(value), since: undefined, until: undefined })}
        />
        <ChartTools
          shown={span ?? { since: Date.parse(data?.since ?? ""), until: Date.parse(data?.until ?? "") }}
          isZoomed={span !== null}
          isLatest={span === null}
          onSpan={zoom}
          onReset={() => choose({ since: undefined, until: undefined })}
        />
      </Group>
      {!data && (error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={1} height={150} />)}
      {data && (
        <RequestChart
          chart={data}
          label={`${metric.name}, ${texts.measures[data.measure].toLowerCase()}`}
          onZoom={zoom}
        />
      )}
    </div>
  );
}
