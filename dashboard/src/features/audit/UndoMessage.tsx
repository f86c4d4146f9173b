/** The message that something was done, with a button that undoes it. */

import { Button, Group } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { environmentsQuery } from "../../api/environments";
import { type Chosen, restoreChanges } from "./restoresCalls";
import { type MadeChanges, takeChanges } from "../../api/madeChanges";
import { onSessionChange } from "../../api/session";
import { notifyDone, notifyRefused } from "../../api/notify";
import { turnedOnBy, type TurnedOnFlags } from "./restoredOn";
import { wantOn } from "../flags/turnOnRequest";
import { done, type Done } from "./doneTexts";
import { restore as texts } from "./restoreTexts";

const SHOWN_MILLISECONDS = 10_000;

let shown: string | null = null;

/**
 * Replaces the previous offer, so that it undoes the latest action. `call` says in `done` what the call did, and
 * has the values of its response.
 */
export function offerUndo(cache: QueryClient, call: Readonly<Record<string, unknown>>, made: MadeChanges): void {
  const message = done[call.done as keyof typeof done](call as unknown as Done);
  if (shown !== null) notifications.hide(shown);
  const id = `undo-${made.changes.join("-")}`;
  shown = id;
  notifications.show({
    id,
    message: <UndoMessage cache={cache} message={message} made={made} onUsed={() => notifications.hide(id)} />,
    color: "live",
    role: "status",
    autoClose: SHOWN_MILLISECONDS,
  });
}

interface Props {
  readonly cache: QueryClient;
  readonly message: string;
  readonly made: MadeChanges;
  readonly onUsed: () => void;
}

function UndoMessage({ cache, message, made, onUsed }: Props) {
  const [busy, setBusy] = useState(false);
  useEffect(() => onSessionChange(onUsed), [onUsed]); // another account must not undo it
  const undo = async () => {
    setBusy(true);
    const turned = await findTurnedOn(cache, made).catch(() => null); // the undo reports its own errors
    if (turned) wantOn({ ...turned, turnOn: () => void undoNow(), cancel: () => setBusy(false) });
    else await undoNow();
  };
  const undoNow = async () => {
    try {
      await restoreChanges(made.projectId, chosenOf(made), { if_unchanged: true });
      notifyDone(texts.undone);
    } catch (error) {
      notifyRefused(texts.notUndone, error);
    }
    takeChanges(); // an undo cannot be undone
    onUsed();
    await cache.invalidateQueries(); // the resource can be of any kind
  };
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap">
      <span className="break">{message}</span>
      <Button variant="subtle" size="compact-sm" flex="none" loading={busy} onClick={() => void undo()}>
        {texts.undo}
      </Button>
    </Group>
  );
}

function chosenOf({ changes, areOneOperation = false }: MadeChanges): Chosen {
  const [first] = changes;
  return areOneOperation && first !== undefined ? { batch_of: first } : { changes };
}

/** The flags that an undo turns on in critical environments; null if there are none. */
async function findTurnedOn(cache: QueryClient, made: MadeChanges): Promise<TurnedOnFlags | null> {
  const { projectId } = made;
  const environments = await cache.query({ ...environmentsQuery(projectId), staleTime: "static" });
  if (!environments.some((each) => each.critical)) return null;
  const { items } = await restoreChanges(projectId, chosenOf(made), { dry_run: true, if_unchanged: true });
  return turnedOnBy(
    items.flatMap((each) => each.alterations),
    projectId,
    environments,
  );
}
