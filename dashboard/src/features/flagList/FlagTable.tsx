/**
 * The flags as rows. Only the visible rows exist, so that five thousand scroll like fifty.
 * Browsers do not treat absolutely positioned rows as a table, so roles mark them as one.
 */

import { VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { type CurrentFlag, placeBeside } from "./currentFlag";
import type { FlagRow as Row } from "./flagRows";
import { useListKeys } from "./listKeys";
import { flagsTexts } from "../flags/flagsTexts";
import { flagList } from "../views/flagListTexts";
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
  const { wanted, onFocus, move } = useMovedFocus(rows, virtual.scrollToIndex);
  useListKeys({ onSearch: () => search.current?.focus(), onMove: move });
  return (
    <div role="table" aria-label={flagsTexts.heading} aria-rowcount={rows.length + 1} className={classes.table}>
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
                takesFocus={row.flag.id === wanted}
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

/** Moves the focus from the last row that had it to the next or the previous one. */
function useMovedFocus(rows: readonly Row[], scrollTo: (index: number) => void) {
  const [wanted, setWanted] = useState<string | null>(null);
  const current = useRef<CurrentFlag | null>(null);
  const listed = useRef<readonly Row[]>(rows);
  useEffect(() => {
    listed.current = rows;
  }, [rows]);
  const onFocus = useCallback((id: string) => {
    current.current = { id, among: idsOf(listed.current) };
    setWanted(null);
  }, []);
  const move = (step: 1 | -1): void => {
    const among = idsOf(rows);
    const place = placeBeside(current.current, step, among);
    const id = among[place];
    if (id === undefined) return;
    current.current = { id, among };
    setWanted(id);
    scrollTo(place);
  };
  return { wanted, onFocus, move };
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ flag }) => flag.id);
}

function TableHead() {
  const columns = [
    flagList.columnChoose,
    flagsTexts.columnState,
    flagsTexts.columnFlag,
    flagsTexts.columnAudience,
    flagsTexts.columnDay,
    flagsTexts.columnChanged,
  ];
  return (
    <div role="rowgroup" className={classes.head}>
      <div role="row" aria-rowindex={1} className={classes.columns}>
        {columns.map((column) => (
          <div key={column} role="columnheader">
            {column === flagList.columnChoose ? <VisuallyHidden>{column}</VisuallyHidden> : column}
          </div>
        ))}
      </div>
    </div>
  );
}
