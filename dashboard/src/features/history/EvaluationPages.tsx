/** An evaluation history below its filters: the chart and the rows or, if there are none, how to make evaluations. */

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { EvaluationFilter } from "./historyCalls";
import { evaluateCommand } from "../../ui/snippets";
import { common } from "../../ui/commonTexts";
import { historyPage } from "./historyPageTexts";
import { CodeBlock } from "../../ui/CodeBlock";
import { Empty } from "../../ui/Empty";
import { HistoryChart, type HistoryChartProps } from "./HistoryChart";
import { IconFunnelOff, IconHistory } from "../../ui/icons";
import { Pages, type PagesProps } from "../../ui/Pages";

interface Props extends Pick<PagesProps, "query" | "count">, Omit<HistoryChartProps, "isOfAll"> {
  readonly filter: EvaluationFilter;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

export function EvaluationPages({ filter, isFiltered, onClear, query, count, children, ...chart }: Props) {
  const empty = isFiltered ? (
    <Empty icon={<IconFunnelOff size={22} />} title={historyPage.noMatch} text={historyPage.noMatchText}>
      <Button variant="default" onClick={onClear}>
        {common.clearFilters}
      </Button>
    </Empty>
  ) : (
    <Empty icon={<IconHistory size={22} />} title={historyPage.emptyHeading} text={historyPage.emptyText}>
      <CodeBlock code={evaluateCommand(chart.here)} label={historyPage.emptyText} />
    </Empty>
  );
  return (
    <>
      {(count > 0 || isFiltered) && <HistoryChart {...chart} isOfAll={isFinerThanChart(filter)} />}
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
