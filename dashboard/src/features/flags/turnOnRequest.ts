/**
 * Flags that somebody wants to turn on in critical environments. The frame of the pages asks for confirmation first.
 */

import type { FlagPath } from "../../api/client";

export interface TurnedOn {
  /** Null if the flag does not exist yet, or does not exist any more. */
  readonly path: FlagPath | null;
  readonly name: string;
}

export interface TurningOn extends Partial<TurnedOn> {
  /** Left out if it is one flag, with this `path` and `name`. */
  readonly flags?: readonly TurnedOn[];
  /** The names of the environments. */
  readonly environment: string;
  readonly turnOn: () => void;
  readonly cancel?: () => void;
}

const listeners = new Set<() => void>();
let wanted: TurningOn | null = null;

export function wantedOn(): TurningOn | null {
  return wanted;
}

/** Asks for confirmation, or closes the question with null. */
export function wantOn(next: TurningOn | null): void {
  wanted = next;
  for (const listener of listeners) listener();
}

export function onWantedOn(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
