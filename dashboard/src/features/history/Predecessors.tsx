/** The deleted flags that had a flag's key before it. Their evaluations are not counted with its own. */

import { Text } from "@mantine/core";
import type { Predecessor } from "./historyCalls";
import { useHere } from "../../ui/useHere";
import type { HistorySearch } from "../../ui/search";
import { inFull } from "../../ui/time";
import { charts as texts } from "./chartsTexts";
import { AnchorLink } from "../../ui/links";

interface Props {
  readonly predecessors: readonly Predecessor[];
  /** What the history shows, of which the link keeps the time. */
  readonly search: HistorySearch;
  /** Of the chart. */
  readonly zone: string;
}

export function Predecessors({ predecessors, search: { period, since, until }, zone }: Props) {
  const { project, environment } = useHere();
  const params = { projectId: project.id, environmentId: environment.id };
  return predecessors.map(({ flag_key: flag, flag_id: id, on, off, last }) => (
    <Text key={id ?? ""} size="xs" c="dimmed" mb="xs">
      {texts.predecessor(texts.results(on + off), inFull(last, zone))}{" "}
      {id !== null && (
        <AnchorLink
          to="/projects/$projectId/environments/$environmentId/history"
          params={params}
          search={{ flag, id, ...(period && { period }), ...(since && { since }), ...(until && { until }) }}
        >
          {texts.showPredecessor}
        </AnchorLink>
      )}
    </Text>
  ));
}
