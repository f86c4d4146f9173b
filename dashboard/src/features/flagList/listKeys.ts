/** Keys for a list that work anywhere on its page: `/` to search, `j` and `k` to move the focus to another row. */

import { useEffect, useRef } from "react";
import { isShortcut } from "../../ui/singleKeys";

export interface ListKeys {
  readonly onSearch: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const { onSearch, onMove } = latest.current;
      const acts: Readonly<Record<string, () => void>> = { "/": onSearch, j: () => onMove(1), k: () => onMove(-1) };
      const act = acts[event.key];
      if (!act || !isShortcut(event)) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
