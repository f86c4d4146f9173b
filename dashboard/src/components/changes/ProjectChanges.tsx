/** The changes to a project's resources of one kind. */

import { projectChangesQuery } from "../../api/changes";
import { changes as changeTexts } from "../../texts/changes";
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
      emptyText={changeTexts.projectEmptyText}
      projectId={projectId}
    />
  );
}
