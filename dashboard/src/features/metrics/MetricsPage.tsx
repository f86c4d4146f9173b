/** The metrics of a project, which applications report in events and releases watch. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useRef } from "react";
import { metricsQuery } from "./metricsCalls";
import { draftOfMetric, MetricDialog } from "./MetricDialog";
import { MetricRow } from "./MetricRow";
import { SendEvents } from "./SendEvents";
import classes from "../../ui/ResourceRow.module.css";
import { Empty } from "../../ui/Empty";
import { IconEye } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments, useProject } from "../../ui/useHere";
import { metrics as texts } from "./metricsTexts";
import { NewButton } from "../../ui/NewButton";

const UnknownMetrics = lazy(() => import("./UnknownMetrics"));

export function MetricsPage() {
  const project = useProject();
  const environments = useEnvironments();
  const creation = useDialog(draftOfMetric(project.id));
  const create = useRef<HTMLButtonElement>(null);
  const { data: metrics, error, refetch } = useQuery(metricsQuery(project.id));
  const button = (
    <NewButton needs="segments:write" ref={create} onClick={creation.open}>
      {texts.new}
    </NewButton>
  );
  return (
    <Page title={texts.heading} intro={texts.intro} actions={button}>
      {error && !metrics && <LoadFailed error={error} onRetry={refetch} />}
      {!metrics && !error && <RowsSkeleton rows={4} height={64} />}
      {metrics?.length === 0 && (
        <Empty icon={<IconEye size={22} />} title={texts.emptyHeading} text={texts.emptyText} />
      )}
      {metrics && metrics.length > 0 && (
        <>
          <ul className={classes.list} aria-label={texts.heading}>
            {metrics.map((each) => (
              <MetricRow key={each.id} projectId={project.id} metric={each} onDeleted={() => create.current?.focus()} />
            ))}
          </ul>
          <SendEvents project={project} environments={environments} metrics={metrics} />
        </>
      )}
      <Suspense>
        <UnknownMetrics projectId={project.id} environments={environments} />
      </Suspense>
      <MetricDialog projectId={project.id} {...creation.props} />
    </Page>
  );
}
