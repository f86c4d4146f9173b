/** A chart of the history as bars, one series or two side by side. Screen readers get a table with the same numbers. */

import { Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { type Chart, type ChartBar, inWords, mostOf, type Part, percent } from "./chartBars";
import type { Scale } from "./chartView";
import { axisLabel, inFull } from "../../ui/time";
import { usePlot, type Zooming } from "../../ui/usePlot";
import { charts as texts } from "./chartsTexts";
import classes from "./Bars.module.css";
import { BarsLegend, partStyle } from "./BarsLegend";
import { BarsTable } from "./BarsTable";

interface Props {
  readonly chart: Chart;
  readonly scale: Scale;
  readonly height?: number;
  readonly zooming?: Zooming;
  /** The marks between the bars and the axis. */
  readonly marks?: ReactNode;
}

const HEIGHT = 132;
const LABELS = 6;

export function Bars({ chart, scale, height = HEIGHT, zooming, marks }: Props) {
  const { parts, series, zone, stepSeconds } = chart;
  const own = series[0]?.bars ?? [];
  const starts = own.map(({ start }) => start);
  const { pointed, chosen, handlers } = usePlot(
    starts,
    own.map(({ end }) => end),
    zooming,
  );
  const help = useId();
  const most = mostOf(chart);
  const every = Math.max(1, Math.ceil(starts.length / LABELS));
  const wordsAt = (index: number) => spoken(chart, scale, index);
  const said = chosen
    ? texts.chosen(inFull(own[chosen[0]]?.start ?? 0, zone), inFull(own[chosen[1]]?.end ?? 0, zone))
    : pointed === null
      ? undefined
      : wordsAt(pointed);
  const focusable = zooming && {
    role: "slider",
    tabIndex: 0,
    "aria-label": texts.bars,
    "aria-describedby": help,
    "aria-valuemin": 0,
    "aria-valuemax": Math.max(0, starts.length - 1),
    "aria-valuenow": pointed ?? Math.max(0, starts.length - 1),
    "aria-valuetext": said ?? wordsAt(starts.length - 1),
  };
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <BarsLegend chart={chart} scale={scale} />
        <Text size="xs" c="dimmed" className="numbers">
          {said ?? (zooming ? texts.hint : "")}
        </Text>
      </figcaption>
      <div
        className={classes.plot}
        style={{ height }}
        data-zooms={zooming !== undefined}
        {...(focusable ?? { "aria-hidden": true })}
        {...handlers}
      >
        <span className={classes.most}>{scale === "percent" ? percent(1, 1) : most.toLocaleString("en")}</span>
        {starts.map((start, index) => (
          <div
            key={start}
            className={classes.slot}
            data-pointed={index === pointed || undefined}
            data-chosen={chosen !== null && index >= chosen[0] && index <= chosen[1] ? true : undefined}
          >
            {series.map(({ bars }, place) => (
              <Stack
                key={place}
                bar={bars[index]}
                parts={parts}
                most={scale === "percent" ? null : most}
                place={place}
              />
            ))}
          </div>
        ))}
      </div>
      {zooming && <VisuallyHidden id={help}>{texts.keys}</VisuallyHidden>}
      {marks}
      <div className={classes.axis} aria-hidden>
        {starts.map((start, index) => (
          <span key={start} className={classes.tick}>
            {index % every === 0 && <span className={classes.label}>{axisLabel(start, stepSeconds, zone)}</span>}
          </span>
        ))}
      </div>
      <Text size="xs" c="dimmed">
        {texts.zone(zone)}
      </Text>
      <BarsTable chart={chart} scale={scale} />
    </figure>
  );
}

interface StackProps {
  readonly bar: ChartBar | undefined;
  readonly parts: readonly Part[];
  /** The value at the top of the chart; null if each bar reaches it. */
  readonly most: number | null;
  /** Of its series. */
  readonly place: number;
}

function Stack({ bar, parts, most, place }: StackProps) {
  return (
    <div className={classes.stack} data-compared={place > 0 || undefined}>
      {parts.map(({ key, colour, isStriped }, part) => {
        const count = bar?.counts[part] ?? 0;
        if (!bar || count === 0) return null;
        return (
          <div
            key={key}
            className={classes.part}
            data-striped={isStriped || undefined}
            style={{ ...partStyle(colour), height: `max(2px, ${(count / (most ?? bar.total)) * 100}%)` }}
          />
        );
      })}
    </div>
  );
}

/** The values of all series at one bar. */
function spoken({ parts, series, zone }: Chart, scale: Scale, index: number): string {
  const [first, second] = series.map(({ name, bars }) => {
    const bar = bars[index];
    return { name, when: bar ? inFull(bar.start, zone) : "", words: bar ? inWords(bar, parts, scale) : texts.nothing };
  });
  if (!first) return "";
  const own = texts.at(first.when, first.words);
  if (!second) return own;
  const name = second.when === first.when ? second.name : `${second.name}, ${second.when}`;
  return `${own}. ${texts.comparedAt(name, second.words)}`;
}
