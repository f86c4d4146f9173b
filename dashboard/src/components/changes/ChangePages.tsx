/** The audit trail of an environment, or of one flag and its rules, in pages. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { changesQuery } from "../../api/changes";
import type { EnvironmentPath } from "../../api/client";
import { flagsQuery } from "../../api/flags";
import { changes as changeTexts } from "../../texts/changes";
import { ChangeList } from "./ChangeList";

interface Props {
  readonly path: EnvironmentPath;
  readonly flagId?: string;
}

export default function ChangePages({ path, flagId }: Props) {
  const { data: flags } = useQuery(flagsQuery(path));
  const flagNames = useMemo(() => new Map(flags?.map((flag) => [flag.id, flag.name])), [flags]);
  return (
    <ChangeList
      changes={changesQuery(path, flagId)}
      flagNames={flagNames}
      emptyText={flagId === undefined ? changeTexts.emptyText : changeTexts.flagEmptyText}
      projectId={path.project_id}
    />
  );
}
