/** The changes to a project's resources of one kind. */

import { projectChangesQuery } from "../../api/changes";
import { ChangeList } from "./ChangeList";
import { NoChanges } from "./NoChanges";

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
      empty={<NoChanges />}
      projectId={projectId}
    />
  );
}
