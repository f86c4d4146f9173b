/**
 * A list whose rows exist only while they are near the window, if it is long: a thousand rows scroll like fifty, and
 * nothing else on the page waits for them. Rows may differ in height. A short list has all of its rows.
 */

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import classes from "./WindowedList.module.css";

/** The rows up to which all exist, so that the browser's own search finds them. */
const MOST_AT_ONCE = 50;

interface Props<Row> {
  readonly rows: readonly Row[];
  /** The height of a usual row, in pixels. */
  readonly height: number;
  readonly keyOf: (row: Row) => string;
  readonly children: (row: Row) => ReactNode;
}

export function WindowedList<Row>(props: Props<Row>) {
  const { rows, keyOf, children } = props;
  if (rows.length > MOST_AT_ONCE) return <Windowed {...props} />;
  return (
    <ol className={classes.list}>
      {rows.map((row) => (
        <li key={keyOf(row)}>{children(row)}</li>
      ))}
    </ol>
  );
}

function Windowed<Row>({ rows, height, keyOf, children }: Props<Row>) {
  const list = useRef<HTMLOListElement>(null);
  const [margin, setMargin] = useState(0);
  // What loads above the list moves it, and makes the page longer.
  useEffect(() => {
    const measure = () => setMargin((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // oxlint-disable-next-line react/incompatible-library -- the build does not use React's compiler
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: useCallback(() => height, [height]),
    overscan: 8,
    scrollMargin: margin,
    getItemKey: useCallback(
      (index: number) => {
        const row = rows[index];
        return row === undefined ? index : keyOf(row);
      },
      [rows, keyOf],
    ),
  });
  return (
    <ol ref={list} className={classes.windowed} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index];
        return (
          row !== undefined && (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              style={{ transform: `translateY(${item.start - margin}px)` }}
            >
              {children(row)}
            </li>
          )
        );
      })}
    </ol>
  );
}
