/** Reads and zooms a chart with the pointer and the keyboard. */

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { placeOf, type Span } from "./charts/chartTimes";

export interface Zooming {
  readonly onZoom: (span: Span) => void;
  readonly onZoomIn?: () => void;
  readonly onZoomOut?: () => void;
}

const BESIDE = 2; // bars on each side of the one that Enter zooms into

/**
 * `starts` are those of the bars, and `ends` their ends; or both are the moments of a line. Without `zooming`, the chart can only be
 * pointed at. `indexAt` returns the bar or the moment at a share of the chart's width.
 *
 * What is pointed at and chosen is kept as a time, because the bars move when the chart is loaded again.
 */
export function usePlot(
  starts: readonly number[],
  ends: readonly number[],
  zooming?: Zooming,
  indexAt = (share: number): number => Math.floor(share * starts.length),
) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [anchor, setAnchor] = useState<number | null>(null);
  const last = starts.length - 1;
  const timeAt = (index: number): number | null => starts[Math.min(Math.max(index, 0), last)] ?? null;
  const at = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return timeAt(indexAt((clientX - left) / width));
  };
  const zoom = (from: number | null, to: number | null) => {
    setAnchor(null);
    setPointed(null); // the bars will change
    if (from === null || to === null) return;
    const [since, last] = [Math.min(from, to), Math.max(from, to)];
    zooming?.onZoom({ since, until: ends[placeOf(last, starts)] ?? last });
  };
  const place = pointed === null ? null : placeOf(pointed, starts);
  const shown = place ?? last;
  const read = (index: number, isChoosing: boolean) => {
    if (!isChoosing) setAnchor(null);
    else if (anchor === null) setAnchor(timeAt(shown));
    setPointed(timeAt(index));
  };
  const keys: Readonly<Record<string, (isChoosing: boolean) => void>> = {
    ArrowLeft: (isChoosing) => read(pointed === null && !isChoosing ? last : shown - 1, isChoosing),
    ArrowRight: (isChoosing) => read(shown + 1, isChoosing),
    Home: (isChoosing) => read(0, isChoosing),
    End: (isChoosing) => read(last, isChoosing),
    Enter: () => (anchor === null ? zoom(timeAt(shown - BESIDE), timeAt(shown + BESIDE)) : zoom(anchor, timeAt(shown))),
    Escape: () => setAnchor(null),
    "+": () => zooming?.onZoomIn?.(),
    "=": () => zooming?.onZoomIn?.(),
    "-": () => zooming?.onZoomOut?.(),
  };
  const pointing = {
    onPointerMove: (event: PointerEvent) => setPointed(at(event)),
    onPointerLeave: () => anchor === null && setPointed(null),
  };
  const choosing = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setAnchor(at(event));
    },
    onPointerUp: (event: PointerEvent) => {
      const to = at(event);
      if (anchor !== null && anchor !== to) zoom(anchor, to);
      else setAnchor(null);
    },
    onPointerCancel: () => setAnchor(null),
    onKeyDown: (event: KeyboardEvent) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act(event.shiftKey);
    },
    onBlur: () => {
      setAnchor(null);
      setPointed(null);
    },
  };
  const start = anchor === null ? null : placeOf(anchor, starts);
  return {
    pointed: place,
    chosen: start === null ? null : ([Math.min(start, shown), Math.max(start, shown)] as const),
    handlers: zooming ? { ...pointing, ...choosing } : pointing,
  };
}
