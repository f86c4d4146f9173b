/** A table of texts about applications. */

import type { ReactNode } from "react";
import { applications as t } from "../../texts/applications";
import classes from "./Sheet.module.css";

/** More rows than people read would make the page slow. */
const SHOWN = 100;

interface Props {
  readonly label: string;
  readonly columns: readonly string[];
  /** The first cell of each row names it. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
}

export function Sheet({ label, columns, rows }: Props) {
  return (
    // Focusable, because scrollable content must be scrollable by keyboard.
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <table className={classes.sheet}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ key, cells: [name, ...cells] }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {cells.map((cell, place) => (
                <td key={columns[place + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p className={classes.more}>{t.more(rows.length - SHOWN)}</p>}
    </section>
  );
}
