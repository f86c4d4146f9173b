/** The outage that lasts, if any. outage.ts decides when it begins and ends. */

export interface Outage {
  /** When the server was last heard, in milliseconds since 1970. */
  readonly since: number;
  /** When it was last known that others' changes are shown; 0 if the page does not follow changes. */
  readonly followedUntil: number;
}

let outage: Outage | null = null;
const watchers = new Set<() => void>();

/** Null while the server can be reached. */
export function currentOutage(): Outage | null {
  return outage;
}

export function setOutage(current: Outage | null): void {
  outage = current;
  for (const watcher of watchers) watcher();
}

/** Calls back whenever an outage begins or ends. Returns a function that stops this. */
export function watchOutage(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Waits for loads, which repeat failed requests, but not during an outage. */
export async function unlessAway(loads: Promise<unknown>): Promise<void> {
  let unwatch = (): unknown => undefined;
  const away = new Promise<void>((resolve) => {
    const look = (): void => {
      if (outage !== null) resolve();
    };
    unwatch = watchOutage(look);
    look();
  });
  await Promise.race([loads, away]);
  unwatch();
}
