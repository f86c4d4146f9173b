/** A measure of a request metric over time, and the limit that a threshold has for it. */

import { Text } from "@mantine/core";
import type { RequestChart as Chart } from "../../api/requestMetrics";
import type { Span } from "../../lib/charts/chartTimes";
import { digits } from "../../lib/releases";
import { drawn } from "./requestCharts";
import { releases } from "../../texts/releases";
import { requestMetrics as texts } from "../../texts/requestMetrics";
import { LineChart } from "../releases/LineChart";

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
      : [{ kind: "threshold" as const, name: releases.thresholdOf(digits(limit)), place: found.place(limit) }];
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
