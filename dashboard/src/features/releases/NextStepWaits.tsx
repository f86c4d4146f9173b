/** What keeps the next step of a release from beginning, if anything does. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FlagPath } from "../../api/client";
import { type Release, resultsQuery } from "./releasesCalls";
import { useGuard } from "../../ui/useGuard";
import { releases as texts } from "./releasesTexts";

interface Props {
  readonly path: FlagPath;
  readonly release: Release;
}

export function NextStepWaits({ path, release }: Props) {
  const { reason } = useGuard({ needs: "evaluations:read" });
  const { data } = useQuery({ ...resultsQuery(path, release), enabled: reason === null });
  const hold = data?.next_step_waits_for ?? null;
  return hold === null ? null : <Text size="sm">{texts.waitsFor[hold]}</Text>;
}
