/**
 * The flags as rows. Only the visible rows exist, so that five thousand scroll like fifty.
 * Browsers do not treat absolutely positioned rows as a table, so roles mark them as one.
 */

import { VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { FlagRow as Row } from "./flagRows";
import { useListKeys } from "./listKeys";
import { t } from "../../texts";
import { flagList } from "../../texts/flagList";
import { FlagRow, type RowActs } from "./FlagRow";
import classes from "./FlagTable.module.css";

interface Props {
  readonly rows: readonly Row[];
  readonly search: RefObject<HTMLInputElement | null>;
  /** The ids of the flags that are chosen. */
  readonly chosen: ReadonlySet<string>;
  /** The keys of the favourites. */
  readonly favourites: ReadonlySet<string>;
  /** The states of open releases, by the ids of their flags. */
  readonly releases: ReadonlyMap<string, string>;
  readonly on: RowActs;
}

const HEADER_HEIGHT = 132; // the headers of the page and the table, which cover the rows

export function FlagTable({ rows, search, chosen, favourites, releases, on }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const narrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const [margin, setMargin] = useState(0);
  const height = narrow ? 92 : 44;
  // The height of the content above the list has changed as well.
  useEffect(() => setMargin(list.current?.offsetTop ?? 0), [height, rows]);
  // oxlint-disable-next-line react/incompatible-library -- the build does not use React's compiler
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: useCallback(() => height, [height]),
    overscan: 8,
    scrollMargin: margin,
    scrollPaddingStart: HEADER_HEIGHT,
    scrollPaddingEnd: 24,
    getItemKey: useCallback((index: number) => rows[index]?.flag.id ?? index, [rows]),
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  const { current, wanted, onFocus, move } = useCurrentRow(rows.length, virtual.scrollToIndex);
  useListKeys({
    onSearch: () => search.current?.focus(),
    onMove: move,
    onAct: () => {
      const row = current === null ? undefined : rows[current];
      if (row) on.onSwitch(row, !row.flag.enabled);
      return row !== undefined;
    },
  });
  return (
    <div role="table" aria-label={t.flags.heading} aria-rowcount={rows.length + 1} className={classes.table}>
      <TableHead />
      <div role="rowgroup" ref={list} className={classes.body} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          return (
            row && (
              <FlagRow
                key={item.key}
                row={row}
                index={item.index}
                top={item.start - margin}
                takesFocus={item.index === wanted}
                onFocus={onFocus}
                on={on}
                isChosen={chosen.has(row.flag.id)}
                isFavourite={favourites.has(row.flag.key)}
                release={releases.get(row.flag.id)}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** The current row: the last one that had the focus or was selected by keyboard. */
function useCurrentRow(count: number, scrollTo: (index: number) => void) {
  const [current, setCurrent] = useState<number | null>(null);
  const [wanted, setWanted] = useState<number | null>(null);
  const shown = current === null || count === 0 ? null : Math.min(current, count - 1);
  const onFocus = useCallback((index: number) => {
    setCurrent(index);
    setWanted(null);
  }, []);
  const move = (step: 1 | -1): void => {
    if (count === 0) return;
    const next = shown === null ? 0 : Math.max(0, Math.min(shown + step, count - 1));
    setCurrent(next);
    setWanted(next);
    scrollTo(next);
  };
  return { current: shown, wanted, onFocus, move };
}

function TableHead() {
  const columns = [
    flagList.columnChoose,
    t.flags.columnState,
    t.flags.columnFlag,
    t.flags.columnAudience,
    t.flags.columnDay,
    t.flags.columnChanged,
  ];
  return (
    <div role="rowgroup" className={classes.head}>
      <div role="row" tabIndex={-1} aria-rowindex={1} className={classes.columns}>
        {columns.map((column) => (
          <div key={column} role="columnheader">
            {column === flagList.columnChoose ? <VisuallyHidden>{column}</VisuallyHidden> : column}
          </div>
        ))}
      </div>
    </div>
  );
}
