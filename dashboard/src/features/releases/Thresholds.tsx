/** The thresholds of a release on request metrics: each in a sentence, and as a chart against its limit. */

import { Badge, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FlagPath } from "../../api/client";
import type { Release, Threshold } from "./releasesCalls";
import { requestChartQuery } from "../requestMetrics/requestMetricsCalls";
import { thresholdInWords } from "./releases";
import { useGuard } from "../../ui/useGuard";
import { releases as texts } from "./releasesTexts";
import { requestMetrics } from "../requestMetrics/requestMetricsTexts";
import { RequestChart } from "../requestMetrics/RequestChart";
import { When } from "../../ui/When";
import classes from "./Releases.module.css";

interface Props {
  readonly path: FlagPath;
  readonly release: Release;
}

export function Thresholds({ path, release }: Props) {
  return (
    <section aria-label={texts.thresholds}>
      <Title order={3} size="h2" mb="sm">
        {texts.thresholds}
      </Title>
      {release.thresholds.map((threshold, place) => (
        <One key={place} path={path} release={release} threshold={threshold} place={place} />
      ))}
      <Text size="xs" c="dimmed" mt="sm">
        {texts.thresholdsNote}
      </Text>
    </section>
  );
}

interface OneProps extends Props {
  readonly threshold: Threshold;
  readonly place: number;
}

function One({ path, release, threshold, place }: OneProps) {
  const alarm = release.alarms.find((each) => each.place === place);
  return (
    <section className={classes.guard} aria-label={threshold.request_metric}>
      <Group gap="xs">
        <Text className="break">
          {thresholdInWords(threshold)}. {texts.thresholdActions[threshold.action]}.
        </Text>
        {alarm ? (
          <Badge color="alarm.8">
            {texts.acted} <When at={alarm.at} />
          </Badge>
        ) : (
          <Badge variant="default">{texts.within}</Badge>
        )}
      </Group>
      <Charted path={path} threshold={threshold} />
    </section>
  );
}

function Charted({ path, threshold }: { path: FlagPath; threshold: Threshold }) {
  const { reason } = useGuard({ needs: "evaluations:read" });
  const { project_id, env_id } = path;
  const { request_metric: name, measure, labels } = threshold;
  const query = requestChartQuery({ project_id, env_id }, { name, measure, labels, hours: 1 });
  const { data } = useQuery({ ...query, enabled: reason === null });
  if (!data) return null;
  return (
    <RequestChart chart={data} label={requestMetrics.measures[measure]} limit={threshold.above ?? threshold.below} />
  );
}
