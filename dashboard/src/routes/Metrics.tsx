/** The metrics of a project, which applications report in events and releases watch. */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useRef } from "react";
import { metricsQuery } from "../api/metrics";
import { draftOfMetric, MetricDialog } from "../components/metrics/MetricDialog";
import { MetricRow } from "../components/metrics/MetricRow";
import { SendEvents } from "../components/metrics/SendEvents";
import classes from "../components/shared/ResourceRow.module.css";
import { Empty } from "../components/shared/Empty";
import { IconEye } from "../components/shared/icons";
import { Page } from "../components/shared/Page";
import { RowsSkeleton } from "../components/shared/PageSkeleton";
import { LoadFailed } from "../components/shared/ProblemPage";
import { useDialog } from "../lib/hooks/useDialog";
import { useEnvironments, useProject } from "../lib/hooks/useHere";
import { metrics as texts } from "../texts/metrics";
import { NewButton } from "../components/shared/NewButton";

const UnknownMetrics = lazy(() => import("../components/metrics/UnknownMetrics"));

export function Metrics() {
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
