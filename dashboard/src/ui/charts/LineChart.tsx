/** Lines over time. Screen readers get a table with the same numbers. */

import { Button, VisuallyHidden } from "@mantine/core";
import { type CSSProperties, useState } from "react";
import { type Line, nearest, partOf, spread, timePlaces } from "./releaseCharts";
import type { Span } from "./chartTimes";
import { axisLabel, inFull } from "../time";
import { usePlot } from "../usePlot";
import { DataTable } from "../DataTable";
import classes from "./LineChart.module.css";

const texts = {
  at: (when: string, value: string) => `${when}: ${value}`,
  now: (value: string) => `${value} now`,
  moment: "Time",
  reset: "Reset",
};

export interface Mark {
  readonly kind: "threshold" | "warning";
  readonly name: string;
  readonly place: number;
}

interface Props {
  readonly label: string;
  /** In milliseconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
  /** The value at the top of the chart, in words. */
  readonly most?: string;
  /** Takes the time over which somebody has dragged; without it, the chart shows that part of what it has. */
  readonly onZoom?: (span: Span) => void;
}

const WIDTH = 1000;
const HEIGHT = 100;
const TOLD = 24;

export function LineChart({ onZoom, ...chart }: Props) {
  const [span, setSpan] = useState<Span | null>(null);
  const shown = span === null ? chart : partOf(chart, span);
  return (
    <>
      <Plot {...shown} onZoom={onZoom ?? setSpan} />
      {span !== null && (
        <Button variant="default" size="compact-xs" onClick={() => setSpan(null)}>
          {texts.reset}
        </Button>
      )}
    </>
  );
}

function Plot({ label, times, lines, marks = [], most, onZoom }: Props & Required<Pick<Props, "onZoom">>) {
  const places = timePlaces(times);
  const { pointed, chosen, handlers } = usePlot(times, times, { onZoom }, (share) => nearest(places, share) ?? 0);
  const shown = pointed ?? times.length - 1;
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span className={classes.legend}>
          {lines.length === 1 ? label : lines.map((line) => <Key key={line.name} line={line} />)}
        </span>
        <span className={classes.pointed}>
          {pointed === null
            ? texts.now(wordsAt(lines, shown))
            : texts.at(inFull(times[shown] ?? 0), wordsAt(lines, shown))}
        </span>
      </figcaption>
      <div className={classes.plot} aria-hidden {...handlers}>
        {chosen && <span className={classes.chosen} style={between(places[chosen[0]], places[chosen[1]])} />}
        <svg className={classes.lines} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
          {marks.map(({ kind, place }) => (
            <path key={kind} className={classes.mark} data-kind={kind} d={`M0 ${down(place)}H${WIDTH}`} />
          ))}
          {pointed !== null && <path className={classes.guide} d={`M${right(places[shown])} 0V${HEIGHT}`} />}
          {lines.map((line) => (
            <path
              key={line.name}
              className={classes.line}
              style={{ stroke: line.colour }}
              d={traced(line.places, places)}
            />
          ))}
        </svg>
        {most !== undefined && <span className={classes.most}>{most}</span>}
        {marks.map(({ kind, name, place }) => (
          <span key={kind} className={classes.name} data-kind={kind} style={{ bottom: `${place * 100}%` }}>
            {name}
          </span>
        ))}
        {lines
          .filter(({ places: known }) => known[shown] != null)
          .map((line) => (
            <span
              key={line.name}
              className={classes.dot}
              style={{
                left: `${(places[shown] ?? 1) * 100}%`,
                bottom: `${(line.places[shown] ?? 0) * 100}%`,
                background: line.colour,
              }}
            />
          ))}
      </div>
      <Axis times={times} />
      <Figures label={label} times={times} lines={lines} />
    </figure>
  );
}

function Key({ line }: { line: Line }) {
  return (
    <span>
      <span className={classes.key} style={{ background: line.colour }} />
      {line.name}
    </span>
  );
}

function Axis({ times }: { times: readonly number[] }) {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const seconds = (last - first) / 1000 / 4;
  return (
    <div className={classes.axis} aria-hidden>
      {[first, last].map((time, index) => (
        <span key={index}>{axisLabel(time, seconds)}</span>
      ))}
    </div>
  );
}

function Figures({ label, times, lines }: Pick<Props, "label" | "times" | "lines">) {
  const all = times.map((_, index) => index);
  const known = all.filter((index) => lines.some(({ places }) => places[index] != null));
  const told = spread(known.length > 0 ? known : all, TOLD);
  return (
    <VisuallyHidden>
      <DataTable
        caption={<caption>{label}</caption>}
        columns={[
          { head: texts.moment, cell: (index) => inFull(times[index] ?? 0) },
          ...lines.map(({ name, words }) => ({ head: name, cell: (index: number) => words[index] })),
        ]}
        rows={told}
        keyOf={(index) => index}
      />
    </VisuallyHidden>
  );
}

function wordsAt(lines: readonly Line[], index: number): string {
  const [only, ...others] = lines;
  if (others.length === 0) return only?.words[index] ?? "";
  return lines.map(({ words }) => words[index]).join(" / ");
}

/** A line through the known points, with gaps where nothing is known. A single point is a dot. */
function traced(line: readonly (number | null)[], places: readonly number[]): string {
  return line
    .map((place, index) => {
      if (place === null) return "";
      const to = `${right(places[index])} ${down(place)}`;
      return (line[index - 1] ?? null) === null ? `M${to}L${to}` : `L${to}`;
    })
    .join("");
}

function between(from = 0, to = 0): CSSProperties {
  return { left: `${from * 100}%`, width: `${(to - from) * 100}%` };
}

function right(place: number | undefined): number {
  return (place ?? 0) * WIDTH;
}

function down(place: number): number {
  return (1 - place) * HEIGHT;
}
