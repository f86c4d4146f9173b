/** The numbers of a chart as a table, for screen readers. */

import { VisuallyHidden } from "@mantine/core";
import { type Chart, inWords } from "./chartBars";
import type { Scale } from "./chartView";
import { inFull } from "../../lib/time";
import { charts as texts } from "../../texts/charts";

export function BarsTable({ chart: { parts, series }, scale }: { chart: Chart; scale: Scale }) {
  const bars = series[0]?.bars ?? [];
  return (
    <VisuallyHidden>
      <table>
        <caption>{texts.heading}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.time}</th>
            {series.map(({ name }, place) => (
              <th key={place} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map(({ start }, index) =>
            series.some((each) => (each.bars[index]?.total ?? 0) > 0) ? (
              <tr key={start}>
                <th scope="row">{inFull(start)}</th>
                {series.map((each, place) => {
                  const bar = each.bars[index];
                  return <td key={place}>{bar ? inWords(bar, parts, scale) : texts.nothing}</td>;
                })}
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </VisuallyHidden>
  );
}
