/** The chart above a history, for one flag with its reasons or for a whole environment. What it shows is in the URL. */

import { Skeleton, Text } from "@mantine/core";
import type { Flag } from "../../api/client";
import { isEmpty, timeOf } from "./chartBars";
import { useChartZone } from "../../ui/charts/chartZone";
import { fitted, type Span, spanSearch, zoomedIn, zoomedOut } from "../../ui/charts/chartTimes";
import { chartViewOf } from "./chartView";
import type { HistorySearch } from "../../ui/search";
import { useEnvironments, type useHere } from "../../ui/useHere";
import { useHistoryChart } from "./useHistoryChart";
import { charts as texts } from "./chartsTexts";
import { LoadFailed } from "../../ui/ProblemPage";
import { Bars } from "./Bars";
import { ChangeMarkers } from "./ChangeMarkers";
import { ChartChoices } from "./ChartChoices";
import { ChartTools } from "./ChartTools";
import classes from "./HistoryChart.module.css";
import { PinButton } from "./PinButton";
import { Predecessors } from "./Predecessors";
import { Reasons } from "./Reasons";

export interface HistoryChartProps {
  readonly here: ReturnType<typeof useHere>;
  readonly search: HistorySearch;
  readonly onChange: (search: HistorySearch) => void;
  /** An empty key means the whole environment. */
  readonly flagKey: string;
  /** The flag with this key, unless it was deleted. */
  readonly flag: Flag | undefined;
  /** Whether to say that the chart counts more than the rows below it. */
  readonly isOfAll: boolean;
}

export function HistoryChart({ here, search, onChange, flagKey, flag, isOfAll }: HistoryChartProps) {
  const { path, environment } = here;
  const environments = useEnvironments();
  const zone = useChartZone();
  const view = chartViewOf(search, { here: environment.id, environments, flagKey, zone });
  const flagId = flag?.id === search.id ? "" : (search.id ?? "");
  const { chart, predecessors, loadedAt, error, retry } = useHistoryChart(path, environment, { flagKey, flagId }, view);
  if (!chart && error) {
    return (
      <div className={classes.panel}>
        <LoadFailed error={error} onRetry={retry} />
      </div>
    );
  }
  if (!chart) return <Skeleton h={240} mb="md" />;
  const shown = timeOf(chart);
  const wanted = view.span ?? shown; // while it loads, the chart shows the time before
  const onSpan = (span: Span) => onChange({ ...search, at: "", ...spanSearch(fitted(span, Date.now())) });
  const zooming = {
    onZoom: onSpan,
    onZoomIn: () => onSpan(zoomedIn(wanted, Date.now())),
    onZoomOut: () => onSpan(zoomedOut(wanted, Date.now())),
  };
  const hasReasons = view.split !== "reason" && chart.reasons.length > 0;
  return (
    <section className={classes.panel} aria-label={texts.heading}>
      <div className={classes.head}>
        <ChartChoices
          view={view}
          flagKey={flagKey}
          others={environments.filter(({ id }) => id !== environment.id)}
          onChoose={(part) => onChange({ ...search, ...part })}
        />
        <div className={classes.tools}>
          <ChartTools
            shown={wanted}
            isZoomed={view.span !== null}
            isLatest={wanted.until >= loadedAt}
            onSpan={onSpan}
            onReset={() => onChange({ ...search, at: "", since: "", until: "" })}
          />
          <PinButton here={here} view={view} flagKey={flagKey} flag={flag} />
        </div>
      </div>
      {isOfAll && (
        <Text size="xs" c="dimmed" mb="xs">
          {texts.ofAll}
        </Text>
      )}
      {flagId !== "" && (
        <Text size="xs" c="dimmed" mb="xs">
          {texts.ofDeleted(flagKey)}
        </Text>
      )}
      <Predecessors predecessors={predecessors} search={search} zone={chart.zone} />
      {isEmpty(chart) ? (
        <Text c="dimmed" py="lg">
          {texts.none}
        </Text>
      ) : (
        <div className={hasReasons ? classes.split : ""}>
          <Bars
            chart={chart}
            scale={view.scale}
            zooming={zooming}
            marks={<ChangeMarkers path={path} shown={shown} chart={chart} flagKey={flagKey} />}
          />
          {hasReasons && <Reasons reasons={chart.reasons} />}
        </div>
      )}
    </section>
  );
}
