/** The pinned charts of a project as cards: one request for the list, and one for each chart. */

import { Skeleton, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { pinnedChartsQuery } from "../views/pinnedChartsCalls";
import { lastEnvironment } from "../../ui/lastEnvironment";
import { useEnvironments } from "../../ui/useHere";
import { pins as texts } from "./chartsTexts";
import { AnchorLink } from "../../ui/links";
import { LoadFailed } from "../../ui/ProblemPage";
import { PinnedChartCard } from "./PinnedChartCard";
import classes from "./PinnedCharts.module.css";

export default function PinnedChartList({ projectId }: { projectId: string }) {
  const { data: charts, error, refetch } = useQuery(pinnedChartsQuery(projectId));
  const environments = useEnvironments();
  return (
    <section className={classes.section} aria-labelledby="pinned-charts">
      <Title order={2} id="pinned-charts" mb="xs">
        {texts.heading}
      </Title>
      {!charts && (error ? <LoadFailed error={error} onRetry={() => void refetch()} /> : <Skeleton h={180} />)}
      {charts?.length === 0 && <Nothing projectId={projectId} />}
      {charts && charts.length > 0 && (
        <ul className={classes.cards}>
          {charts.map((chart) => {
            const environment = environments.find((each) => each.id === chart.environment_id);
            return environment && <PinnedChartCard key={chart.id} chart={chart} environment={environment} />;
          })}
        </ul>
      )}
    </section>
  );
}

function Nothing({ projectId }: { projectId: string }) {
  const environments = useEnvironments();
  const last = lastEnvironment(projectId);
  const opened = environments.find((each) => each.id === last) ?? environments[0];
  return (
    <div className={classes.empty}>
      <Text fw={560}>{texts.empty}</Text>
      <Text size="sm" c="dimmed">
        {texts.emptyText}
      </Text>
      {opened && (
        <AnchorLink
          size="sm"
          to="/projects/$projectId/environments/$environmentId/history"
          params={{ projectId, environmentId: opened.id }}
        >
          {texts.openHistory}
        </AnchorLink>
      )}
    </div>
  );
}
