/** One dialog for all rows of a list, since a dialog for each would be most of a long list. */

import { useState } from "react";
import { closeDraft, findDraft } from "./editing/drafts";

/**
 * `row` is the one that the dialog is of, as it is now: it stays while the dialog closes, and if somebody deletes it.
 * With `draftOf`, the dialog of a row whose draft was open when the page was left opens again.
 */
export function useRowDialog<Row extends { readonly id: string }>(
  rows: readonly Row[] | undefined,
  draftOf?: (row: Row) => string,
) {
  const [chosen, setChosen] = useState<Row | null>(null);
  const [opened, setOpened] = useState(false);
  const [isKnown, setKnown] = useState(false);
  const open = (row: Row): void => {
    setChosen(row);
    setOpened(true);
  };
  if (rows !== undefined && !isKnown) {
    setKnown(true);
    const left = draftOf && rows.find((row) => findDraft(draftOf(row))?.isOpen === true);
    if (left) open(left);
  }
  const onClose = (): void => {
    if (draftOf && chosen) closeDraft(draftOf(chosen));
    setOpened(false);
  };
  const row = rows?.find(({ id }) => id === chosen?.id) ?? chosen;
  return { row, open, props: { opened, onClose } };
}
