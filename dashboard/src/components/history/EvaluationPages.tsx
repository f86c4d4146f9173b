/** An evaluation history below its filters: the chart and the rows or, if there are none, how to make evaluations. */

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { EvaluationFilter } from "../../api/history";
import type { useHere } from "../../lib/useHere";
import { evaluateCommand } from "../../lib/snippets";
import { t } from "../../texts";
import { CodeBlock } from "../shared/CodeBlock";
import { Empty } from "../shared/Empty";
import { HistoryChart } from "./HistoryChart";
import { IconFunnelOff, IconHistory } from "../shared/icons";
import { Pages, type PagesProps } from "../shared/Pages";

interface Props extends Pick<PagesProps, "query" | "count"> {
  readonly here: ReturnType<typeof useHere>;
  readonly filter: EvaluationFilter;
  /** The flag of the chart; an empty key means the whole environment. */
  readonly flagKey: string;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

export function EvaluationPages({ here, filter, flagKey, isFiltered, onClear, query, count, children }: Props) {
  const empty = isFiltered ? (
    <Empty icon={<IconFunnelOff size={22} />} title={t.history.noMatch} text={t.history.noMatchText}>
      <Button variant="default" onClick={onClear}>
        {t.clearFilters}
      </Button>
    </Empty>
  ) : (
    <Empty icon={<IconHistory size={22} />} title={t.history.emptyHeading} text={t.history.emptyText}>
      <CodeBlock code={evaluateCommand(here)} label={t.history.emptyText} />
    </Empty>
  );
  return (
    <>
      {count > 0 && (
        <HistoryChart
          path={here.path}
          period={filter.period}
          at={filter.at}
          flagKey={flagKey}
          isOfAll={isFinerThanChart(filter)}
        />
      )}
      <Pages query={query} count={count} empty={empty}>
        {children}
      </Pages>
    </>
  );
}

/** Whether the rows are filtered by more than the flag and the period, which are all that the chart can follow. */
function isFinerThanChart({ userId, userEmail, enabled, variant, ruleId }: EvaluationFilter): boolean {
  return userId !== "" || userEmail !== "" || enabled !== null || variant !== "" || ruleId !== "";
}
