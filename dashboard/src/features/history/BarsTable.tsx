/** The numbers of a chart as a table, for screen readers. */

import { VisuallyHidden } from "@mantine/core";
import { type Chart, inWords } from "./chartBars";
import type { Scale } from "./chartView";
import { inFull } from "../../ui/time";
import { charts as texts } from "./chartsTexts";
import { DataTable } from "../../ui/DataTable";

export function BarsTable({ chart: { parts, series, zone }, scale }: { chart: Chart; scale: Scale }) {
  const bars = series[0]?.bars ?? [];
  const shown = [...bars.keys()].filter((index) => series.some((each) => (each.bars[index]?.total ?? 0) > 0));
  return (
    <VisuallyHidden>
      <DataTable
        caption={<caption>{texts.tableOf(zone)}</caption>}
        columns={[
          { head: texts.time, cell: (index) => inFull(bars[index]?.start ?? 0, zone) },
          ...series.map(({ name, bars: own }) => ({
            head: name,
            cell: (index: number) => {
              const bar = own[index];
              return bar ? inWords(bar, parts, scale) : texts.nothing;
            },
          })),
        ]}
        rows={shown}
        keyOf={(index) => index}
      />
    </VisuallyHidden>
  );
}
