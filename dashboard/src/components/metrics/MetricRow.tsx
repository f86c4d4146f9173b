/** A metric in the list. */

import { Badge, Text, Title } from "@mantine/core";
import { type Metric, useDeleteMetric } from "../../api/metrics";
import { useDialog } from "../../lib/useDialog";
import { metrics as texts } from "../../texts/metrics";
import classes from "../rules/SegmentRow.module.css";
import { DeleteDialog } from "../shared/ConfirmDialog";
import { EditMenu } from "../shared/EditMenu";
import { draftOfMetric, MetricDialog } from "./MetricDialog";

interface Props {
  readonly projectId: string;
  readonly metric: Metric;
  readonly onDeleted: () => void;
}

export function MetricRow({ projectId, metric, onDeleted }: Props) {
  const editing = useDialog(draftOfMetric(projectId, metric.id));
  const deletion = useDialog();
  const { mutateAsync } = useDeleteMetric(projectId, metric.id);
  const remove = async (tag: string | null) => {
    await mutateAsync({ tag });
    onDeleted();
  };
  return (
    <li className={classes.segment}>
      <div className={classes.content}>
        <Title order={2} className="break">
          {metric.name}
        </Title>
        <code className={classes.key}>{metric.key}</code>
        {metric.description && (
          <Text c="dimmed" className={classes.description}>
            {metric.description}
          </Text>
        )}
        <div className={classes.sentence}>
          <Badge variant="default">{texts.kindNames[metric.kind]}</Badge> {texts.betterNames[metric.better]}
          {metric.unit !== null && ` · ${metric.unit}`}
        </div>
      </div>
      <EditMenu
        needs="segments:write"
        label={texts.actions(metric.name)}
        onEdit={editing.open}
        onDelete={deletion.open}
      />
      <MetricDialog projectId={projectId} metric={metric} {...editing.props} />
      <DeleteDialog
        name={metric.name}
        consequence={texts.deleteText}
        of={{ projectId, id: metric.id, resource: metric }}
        onDelete={remove}
        {...deletion.props}
      />
    </li>
  );
}
