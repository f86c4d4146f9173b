/** A table with a row for each item, whose first cell names it. */

import type { Key, ReactNode, TdHTMLAttributes } from "react";
import { apiReturnsMore } from "./commonTexts";
import classes from "./DataTable.module.css";

/** More rows than people read would make the page slow. */
const SHOWN = 100;

type CellAttributes = TdHTMLAttributes<HTMLTableCellElement> & Readonly<Record<`data-${string}`, unknown>>;

export interface Column<Row> {
  readonly head: ReactNode;
  readonly cell: (row: Row, place: number) => ReactNode;
  /** Of its head and its cells. */
  readonly className?: string | undefined;
  /** Of its cells. */
  readonly attributes?: (row: Row) => CellAttributes;
}

interface Props<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, place: number) => Key;
  readonly caption?: ReactNode;
  readonly className?: string | undefined;
  /** Whether the first cell is the head of its row. */
  readonly isNamed?: boolean;
}

export function DataTable<Row>({ columns, rows, keyOf, caption, className, isNamed = true }: Props<Row>) {
  return (
    <table className={className}>
      {caption}
      <thead>
        <tr>
          {columns.map(({ head, className: of }, place) => (
            <th key={place} scope="col" className={of}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)}>
            {columns.map(({ cell, className: of, attributes }, place) => {
              const isHead = isNamed && place === 0;
              const Cell = isHead ? "th" : "td";
              return (
                <Cell key={place} scope={isHead ? "row" : undefined} className={of} {...attributes?.(row)}>
                  {cell(row, index)}
                </Cell>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface RegionProps {
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Content wider than the window. It can have the focus, because scrollable content must be scrollable by keyboard. */
export function ScrollRegion({ label, className = classes.region, children }: RegionProps) {
  return (
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A table in a frame. It shows only the first of many rows. */
export function Sheet<Row>({ label, rows, ...table }: Omit<Props<Row>, "className"> & { readonly label: string }) {
  return (
    <ScrollRegion label={label} className={classes.frame}>
      <DataTable className={classes.sheet} rows={rows.slice(0, SHOWN)} {...table} />
      {rows.length > SHOWN && <p className={classes.more}>{apiReturnsMore(rows.length - SHOWN)}</p>}
    </ScrollRegion>
  );
}
