/** A metric in the list. */

import { Badge } from "@mantine/core";
import { type Metric, useDeleteMetric } from "./metricsCalls";
import { useDialog } from "../../ui/useDialog";
import { metrics as texts } from "./metricsTexts";
import classes from "../../ui/ResourceRow.module.css";
import { draftOfMetric, MetricDialog } from "./MetricDialog";
import { ResourceRow } from "../../ui/ResourceRow";

interface Props {
  readonly projectId: string;
  readonly metric: Metric;
  readonly onDeleted: () => void;
}

export function MetricRow({ projectId, metric, onDeleted }: Props) {
  const editing = useDialog(draftOfMetric(projectId, metric.id));
  const { mutateAsync } = useDeleteMetric(projectId, metric.id);
  return (
    <ResourceRow
      projectId={projectId}
      resource={metric}
      actions={texts.actions(metric.name)}
      consequence={texts.deleteText}
      onEdit={editing.open}
      onDelete={async (tag) => {
        await mutateAsync({ tag });
        onDeleted();
      }}
    >
      <div className={classes.sentence}>
        <Badge variant="default">{texts.kindNames[metric.kind]}</Badge> {texts.betterNames[metric.better]}
        {metric.unit !== null && ` · ${metric.unit}`}
      </div>
      <MetricDialog projectId={projectId} metric={metric} {...editing.props} />
    </ResourceRow>
  );
}
