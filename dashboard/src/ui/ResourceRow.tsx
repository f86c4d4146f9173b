/** A resource of a project in a list, with its name, key and description, that can be edited and deleted. */

import { Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useDialog } from "./useDialog";
import { DeleteDialog } from "./ConfirmDialog";
import { EditMenu } from "./EditMenu";
import classes from "./ResourceRow.module.css";
import { visibleProse } from "./givenText";
import { Given } from "./Given";

interface Props {
  readonly projectId: string;
  readonly resource: {
    readonly id: string;
    readonly name: string;
    readonly key: string;
    readonly description: string | null;
  };
  readonly actions: string;
  readonly consequence: string;
  /** Whether a message says that it was deleted. */
  readonly saysSo?: boolean;
  readonly onEdit: () => void;
  readonly onDelete: (tag: string | null) => Promise<void>;
  readonly children: ReactNode;
}

export function ResourceRow({ projectId, resource, actions, onEdit, onDelete, children, ...deleting }: Props) {
  const deletion = useDialog();
  const { id, name, key, description } = resource;
  return (
    <li className={classes.row}>
      <div className={classes.content}>
        <Title order={2} className="break">
          <Given text={name} />
        </Title>
        <code className={classes.key}>{key}</code>
        {description && (
          <Text c="dimmed" className={classes.description} dir="auto">
            {visibleProse(description)}
          </Text>
        )}
        {children}
      </div>
      <EditMenu needs="segments:write" label={actions} onEdit={onEdit} onDelete={deletion.open} />
      <DeleteDialog
        name={name}
        of={{ projectId, id, resource }}
        onDelete={onDelete}
        {...deleting}
        {...deletion.props}
      />
    </li>
  );
}
