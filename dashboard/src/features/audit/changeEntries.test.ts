import { expect, it } from "vitest";
import type { Change } from "../../api/changes";
import { entriesOf } from "./changeEntries";

const change = (id: string, batch?: string) =>
  ({ id, batch: batch === undefined ? null : { id: batch, kind: "copy", changes: 3, flags: 2 } }) as Change;

it("makes one entry of the changes of an operation", () => {
  const entries = entriesOf([change("5"), change("4", "b"), change("3", "b"), change("2", "a"), change("1")]);
  expect(entries.map(({ changes, batch }) => [changes.map(({ id }) => id), batch?.id])).toEqual([
    [["5"], undefined],
    [["4", "3"], "b"],
    [["2"], undefined], // the others were left out
    [["1"], undefined],
  ]);
});

it("keeps two operations apart that follow one another", () => {
  const entries = entriesOf([change("4", "b"), change("3", "b"), change("2", "a"), change("1", "a")]);
  expect(entries.map(({ batch }) => batch?.id)).toEqual(["b", "a"]);
});

it("takes changes of a server that does not know of operations", () => {
  const { batch: _, ...old } = change("1");
  expect(entriesOf([old as Change, change("0")])).toHaveLength(2);
});
