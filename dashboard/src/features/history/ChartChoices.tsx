/** The choices for a chart: its parts, what it is compared with, and its scale. The selection is in the URL, except for the time zone. */

import { NativeSelect } from "@mantine/core";
import type { Environment } from "../../api/client";
import { chooseChartZone, zoneChoices } from "../../ui/charts/chartZone";
import { type ChartView, comparisonOf, COMPARISONS, comparisonSearch, SCALES, SPLITS } from "./chartView";
import type { HistorySearch } from "../../ui/search";
import { charts as texts } from "./chartsTexts";
import classes from "./HistoryChart.module.css";

interface Props {
  readonly view: ChartView;
  readonly flagKey: string;
  /** Those to compare with. */
  readonly others: readonly Environment[];
  readonly onChoose: (part: HistorySearch) => void;
}

export function ChartChoices({ view, flagKey, others, onChoose }: Props) {
  return (
    <div className={classes.choices}>
      <NativeSelect
        size="xs"
        label={texts.split}
        value={view.split}
        disabled={flagKey === ""}
        title={flagKey === "" ? texts.splitNeedsFlag : undefined}
        onChange={({ currentTarget: { value } }) => onChoose({ split: value === "result" ? "" : value })}
        data={SPLITS.map((value) => ({ value, label: texts.splits[value] }))}
      />
      <NativeSelect
        size="xs"
        label={texts.compare}
        value={comparisonOf(view)}
        onChange={({ currentTarget: { value } }) => onChoose(comparisonSearch(value))}
        data={[
          { value: COMPARISONS.none, label: texts.compareNone },
          { value: COMPARISONS.before, label: texts.before },
          ...others.map(({ key, name }) => ({ value: COMPARISONS.ofEnvironment(key), label: name })),
        ]}
      />
      <NativeSelect
        size="xs"
        label={texts.scale}
        value={view.scale}
        onChange={({ currentTarget: { value } }) => onChoose({ scale: value === "count" ? "" : value })}
        data={SCALES.map((value) => ({ value, label: texts.scales[value] }))}
      />
      <NativeSelect
        size="xs"
        label={texts.timeZone}
        value={view.zone}
        onChange={({ currentTarget: { value } }) => chooseChartZone(value)}
        data={zoneChoices()}
      />
    </div>
  );
}
