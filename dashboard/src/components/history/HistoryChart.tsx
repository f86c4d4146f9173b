/** The chart above a history, for one flag with its reasons or for a whole environment. */

import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { summaryQuery } from "../../api/history";
import type { Period } from "../../lib/periods";
import { barsOf, inTotal, reasonsOf, secondsOf } from "../../lib/series";
import { t } from "../../texts";
import { Bars } from "./Bars";
import { ChangeMarkers } from "./ChangeMarkers";
import classes from "./History.module.css";
import { LoadFailed } from "../shared/ProblemPage";
import { Reasons } from "./Reasons";

interface Props {
  readonly path: EnvironmentPath;
  readonly period: Period;
  /** If not null, the chart shows the time around this moment, instead of the period. */
  readonly at: string | null;
  readonly flagKey: string;
  /** Whether to say that the chart counts more than the rows below it show. */
  readonly isOfAll: boolean;
}

export function HistoryChart({ path, period, at, flagKey, isOfAll }: Props) {
  const {
    data: summary,
    error,
    refetch,
  } = useQuery(
    summaryQuery(path, period === "all" ? "week" : period, { at, ...(flagKey === "" ? { total: true } : { flagKey }) }),
  );
  if (error && !summary) {
    return (
      <div className={classes.panel}>
        <LoadFailed error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (!summary) return <Skeleton h={200} mb="md" />;
  const intervals = flagKey === "" ? inTotal(summary) : (summary.flags[flagKey] ?? []);
  const reasons = reasonsOf(intervals);
  if (intervals.length === 0) {
    return (
      <Text c="dimmed" className={classes.panel}>
        {t.history.chartNone}
      </Text>
    );
  }
  const bars = barsOf(summary, intervals);
  return (
    <div className={classes.panel}>
      {isOfAll && (
        <Text size="xs" c="dimmed" mb="xs">
          {t.history.chartOfAll}
        </Text>
      )}
      <div className={reasons.length > 0 ? classes.split : ""}>
        <Bars
          bars={bars}
          stepSeconds={secondsOf(summary.interval)}
          marks={<ChangeMarkers path={path} summary={summary} bars={bars} flagKey={flagKey} />}
        />
        {reasons.length > 0 && <Reasons reasons={reasons} />}
      </div>
    </div>
  );
}
