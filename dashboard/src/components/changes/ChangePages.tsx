/** The audit trail of an environment, or of one flag and its rules, in pages. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { changesQuery } from "../../api/changes";
import type { EnvironmentPath } from "../../api/client";
import { flagQuery, flagsQuery } from "../../api/flags";
import { changes as changeTexts } from "../../texts/changes";
import { ChangeList } from "./ChangeList";

interface Props {
  readonly path: EnvironmentPath;
  readonly flagId?: string;
  /** The time of the oldest changes. */
  readonly since?: string | undefined;
}

export default function ChangePages({ path, flagId, since }: Props) {
  const { data: flags } = useQuery({ ...flagsQuery(path), enabled: flagId === undefined });
  // It may be archived, and then it is not in the list.
  const { data: flag } = useQuery({ ...flagQuery({ ...path, flag_id: flagId ?? "" }), enabled: flagId !== undefined });
  const flagNames = useMemo(
    () => new Map((flag ? [flag] : (flags ?? [])).map(({ id, name }) => [id, name])),
    [flag, flags],
  );
  return (
    <ChangeList
      changes={changesQuery(path, flagId, since)}
      flagNames={flagNames}
      emptyText={flagId === undefined ? changeTexts.emptyText : changeTexts.flagEmptyText}
      emptyHeading={since === undefined ? changeTexts.emptyHeading : changeTexts.emptySince}
      projectId={path.project_id}
    />
  );
}
