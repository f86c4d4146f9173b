/** A list that is edited row by row, with a button that adds one. The focus goes where the change was made. */

import { Button, Input, Text } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { IconPlus } from "./icons";
import classes from "./RowFields.module.css";

export interface RowPlace<Row> {
  readonly row: Row;
  readonly index: number;
  /** Whether the row was just added, so that its first field takes the focus. */
  readonly takesFocus: boolean;
  readonly onChange: (row: Row) => void;
  readonly onRemove: () => void;
}

interface Props<Row> {
  readonly legend: string;
  readonly intro?: ReactNode;
  readonly rows: readonly Row[];
  readonly addText: string;
  /** Of the list as a whole. */
  readonly error?: ReactNode;
  readonly onChange: (rows: Row[]) => void;
  readonly added: (rows: readonly Row[]) => Row[];
  readonly removed?: (rows: readonly Row[], index: number) => Row[];
  readonly render: (place: RowPlace<Row>) => ReactNode;
  /** Shown below the rows. */
  readonly children?: ReactNode;
}

export function RowFields<Row>(props: Props<Row>) {
  const { legend, intro, rows, addText, error, children, onChange, added, removed = spliced, render } = props;
  const addition = useRef<HTMLButtonElement>(null);
  const [newest, setNewest] = useState<number | null>(null);
  const add = () => {
    setNewest(rows.length);
    onChange(added(rows));
  };
  const remove = (index: number) => {
    onChange(removed(rows, index));
    addition.current?.focus(); // the pressed button is about to disappear
  };
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{legend}</legend>
      {intro !== undefined && (
        <Text size="xs" c="dimmed">
          {intro}
        </Text>
      )}
      {rows.map((row, index) => (
        <RowAt
          key={index}
          render={render}
          row={row}
          index={index}
          takesFocus={index === newest}
          onChange={(changed) => onChange(rows.with(index, changed))}
          onRemove={() => remove(index)}
        />
      ))}
      {children}
      {error !== undefined && <Input.Error>{error}</Input.Error>}
      <Button
        ref={addition}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={add}
        className={classes.add}
      >
        {addText}
      </Button>
    </fieldset>
  );
}

function RowAt<Row>({ render, ...place }: RowPlace<Row> & Pick<Props<Row>, "render">) {
  return render(place);
}

function spliced<Row>(rows: readonly Row[], index: number): Row[] {
  return rows.toSpliced(index, 1);
}
