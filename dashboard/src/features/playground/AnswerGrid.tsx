/** Users by flags and environments, a part at a time. One cell is a tab stop; arrow keys lead to the others. */

import { type KeyboardEvent, useRef, useState } from "react";
import type { Environment } from "../../api/client";
import { answerOf, type Column, type Grid, reasonOf, stateOf, type View } from "./grid";
import { nameOf } from "./playgroundUsers";
import { playground as texts } from "./playgroundTexts";
import { ScrollRegion } from "../../ui/DataTable";
import type { Place } from "./Details";
import classes from "./Playground.module.css";

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

interface Props {
  readonly grid: Grid;
  readonly view: View;
  readonly users: readonly number[];
  readonly columns: readonly Column[];
  readonly onChoose: (place: Place) => void;
}

export function AnswerGrid({ grid, view, users, columns, onChoose }: Props) {
  const table = useRef<HTMLTableElement>(null);
  const [current, setCurrent] = useState<Place | null>(null);
  const width = columns.length * view.sides.length;
  const row = Math.max(0, users.indexOf(current?.user ?? 0));
  const place = Math.max(0, placeOf(current, columns, view.sides));
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const next = [within(row + step[0], users.length), within(place + step[1], width)] as const;
    table.current?.querySelector<HTMLElement>(`[data-cell="${next.join()}"]`)?.focus();
  };
  return (
    <ScrollRegion label={texts.grid} className={classes.scroll}>
      <table ref={table} role="grid" aria-label={texts.grid} className={classes.grid} onKeyDown={move}>
        <Head columns={columns} environments={view.sides.flatMap((side) => grid.environments[side] ?? [])} />
        <tbody>
          {users.map((user, index) => (
            <tr key={user}>
              <th scope="row">{nameAt(grid, user)}</th>
              {columns.flatMap((column, across) =>
                view.sides.map((side, offset) => {
                  const at = [index, across * view.sides.length + offset] as const;
                  return (
                    <Cell
                      key={`${column.key} ${side}`}
                      at={at}
                      isFirst={offset === 0}
                      isCurrent={at[0] === row && at[1] === place}
                      {...cellOf(view, { column, side, user })}
                      onFocus={() => {
                        setCurrent({ column, side, user });
                        onChoose({ column, side, user });
                      }}
                    />
                  );
                }),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Head({ columns, environments }: { columns: readonly Column[]; environments: readonly Environment[] }) {
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>
          {texts.user}
        </th>
        {columns.map(({ key }) => (
          <th key={key} scope="colgroup" colSpan={environments.length} className="mono">
            {key}
          </th>
        ))}
      </tr>
      <tr>
        {columns.flatMap(({ key }) =>
          environments.map(({ id, name }) => (
            <th key={`${key} ${id}`} scope="col">
              {name}
            </th>
          )),
        )}
      </tr>
    </thead>
  );
}

interface CellProps {
  readonly at: readonly [number, number];
  readonly isFirst: boolean;
  readonly isCurrent: boolean;
  /** In words; null if it is not shown. */
  readonly state: string | null;
  /** Whether the flag is on; null if there is nothing to say. */
  readonly isOn: boolean | null;
  readonly variant: string | null;
  readonly reason: string | undefined;
  readonly onFocus: () => void;
}

function Cell({ at, isFirst, isCurrent, state, isOn, variant, reason, onFocus }: CellProps) {
  return (
    <td
      role="gridcell"
      tabIndex={isCurrent ? 0 : -1}
      data-cell={at.join()}
      data-first={isFirst || undefined}
      data-state={isOn === null ? "none" : isOn ? "on" : "off"}
      aria-label={state === null ? texts.same : undefined}
      title={reason}
      onFocus={onFocus}
    >
      {state} {variant !== null && <small>{variant}</small>}
    </td>
  );
}

function cellOf(view: View, { column, side, user }: Place) {
  const answer = answerOf(column, side, user);
  const isShown = view.isShown(column, user);
  return {
    state: isShown ? stateOf(answer) : null,
    isOn: isShown && answer ? answer.enabled : null,
    variant: isShown ? (answer?.variant ?? null) : null,
    reason: answer ? reasonOf(answer) : undefined,
  };
}

/** The place of a flag in an environment among the cells of a row; negative if it is not there. */
function placeOf(wanted: Place | null, columns: readonly Column[], sides: readonly number[]): number {
  const [across, offset] = [
    columns.findIndex(({ key }) => key === wanted?.column.key),
    sides.indexOf(wanted?.side ?? 0),
  ];
  return across * sides.length + offset;
}

function nameAt({ users }: Grid, place: number): string {
  const user = users[place];
  return user ? nameOf(user) : "";
}

function within(place: number, count: number): number {
  return Math.max(0, Math.min(place, count - 1));
}
