/** A choice that is kept in the browser, made or not, in all of its tabs. */

import { useSyncExternalStore } from "react";

export function storedChoice(key: string) {
  const listeners = new Set<() => void>();
  const isMade = () => localStorage.getItem(key) !== null;
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    window.addEventListener("storage", listener); // another tab
    return () => {
      listeners.delete(listener);
      window.removeEventListener("storage", listener);
    };
  };
  return {
    isMade,
    make: (made: boolean): void => {
      if (made) localStorage.setItem(key, "yes");
      else localStorage.removeItem(key);
      for (const listener of listeners) listener();
    },
    useIsMade: (): boolean => useSyncExternalStore(onChange, isMade),
  };
}
