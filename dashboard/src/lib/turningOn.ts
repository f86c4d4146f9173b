/** Flags that somebody wants to turn on in a critical environment, about which the frame of the pages asks first. */

import type { FlagPath } from "../api/client";

export interface TurningOn {
  readonly path: FlagPath;
  readonly name: string;
  /** The name of the environment. */
  readonly environment: string;
  readonly turnOn: () => void;
}

const listeners = new Set<() => void>();
let wanted: TurningOn | null = null;

export function wantedOn(): TurningOn | null {
  return wanted;
}

/** Asks about a flag, or with null about none. */
export function wantOn(next: TurningOn | null): void {
  wanted = next;
  for (const listener of listeners) listener();
}

export function onWantedOn(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
