/** The changes to a project's resources of one kind. */

import { projectChangesQuery } from "../api/changes";
import { t } from "../texts";
import { ChangeList } from "./ChangeList";

const NO_FLAGS: ReadonlyMap<string, string> = new Map();

interface Props {
  readonly projectId: string;
  readonly resource: Parameters<typeof projectChangesQuery>[1];
}

export default function ProjectChanges({ projectId, resource }: Props) {
  return (
    <ChangeList
      changes={projectChangesQuery(projectId, resource)}
      flagNames={NO_FLAGS}
      emptyText={t.changes.projectEmptyText}
    />
  );
}
