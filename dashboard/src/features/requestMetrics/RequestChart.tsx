/** A measure of a request metric over time, and the limit that a threshold has for it. */

import { Text } from "@mantine/core";
import type { RequestChart as Chart } from "./requestMetricsCalls";
import type { Span } from "../../ui/charts/chartTimes";
import { digits } from "../../ui/digits";
import { drawn } from "./requestCharts";
import { requestMetrics as texts } from "./requestMetricsTexts";
import { LineChart } from "../../ui/charts/LineChart";

interface Props {
  readonly chart: Chart;
  readonly label: string;
  readonly limit?: number | null;
  readonly onZoom?: (span: Span) => void;
}

export function RequestChart({ chart, label, limit = null, onZoom }: Props) {
  const found = drawn(chart, label, limit);
  if (!found) return <Text size="sm">{texts.noPoints}</Text>;
  const marks =
    limit === null
      ? []
      : [{ kind: "threshold" as const, name: texts.thresholdOf(digits(limit)), place: found.place(limit) }];
  return (
    <>
      <LineChart
        label={label}
        times={found.times}
        lines={found.lines}
        marks={marks}
        {...(onZoom && { onZoom })}
        {...(limit === null && { most: digits(found.most) })}
      />
      {chart.omitted > 0 && (
        <Text size="xs" c="dimmed">
          {texts.omitted(chart.omitted)}
        </Text>
      )}
    </>
  );
}
