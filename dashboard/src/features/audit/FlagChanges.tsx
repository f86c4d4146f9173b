/** The changes of one flag, its rules and the segments that they name, in pages. */

import { useQuery } from "@tanstack/react-query";
import { flagChangesQuery } from "../../api/changes";
import type { EnvironmentPath } from "../../api/client";
import { flagQuery } from "../flags/flagsCalls";
import { changes as changeTexts } from "../../ui/changes/changesTexts";
import { ChangeList } from "./ChangeList";
import { NoChanges } from "./NoChanges";

interface Props {
  readonly path: EnvironmentPath;
  readonly flagId: string;
}

export default function FlagChanges({ path, flagId }: Props) {
  const { data: flag } = useQuery(flagQuery({ ...path, flag_id: flagId }));
  return (
    <ChangeList
      changes={flagChangesQuery(path, flagId)}
      flagNames={new Map(flag && [[flag.id, flag.name]])}
      empty={<NoChanges text={changeTexts.flagEmptyText} />}
      projectId={path.project_id}
    />
  );
}
