/** A relative time, such as "3 min ago", with the full time as its tooltip. */

import { useSyncExternalStore } from "react";
import { ago, inFull } from "./time";
import { common } from "./commonTexts";

const TICK_MILLISECONDS = 20_000;

const clock = {
  now: Date.now(),
  watchers: new Set<() => void>(),
  timer: undefined as ReturnType<typeof setInterval> | undefined,
};

function watch(watcher: () => void): () => void {
  clock.watchers.add(watcher);
  clock.timer ??= setInterval(tick, TICK_MILLISECONDS);
  return () => {
    clock.watchers.delete(watcher);
    if (clock.watchers.size > 0) return;
    clearInterval(clock.timer);
    clock.timer = undefined;
  };
}

function tick(): void {
  clock.now = Date.now();
  for (const watcher of clock.watchers) watcher();
}

export function useNow(): number {
  return useSyncExternalStore(watch, () => clock.now);
}

export function When({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={inFull(at)}>
      {ago(at, now) ?? common.now}
    </time>
  );
}
