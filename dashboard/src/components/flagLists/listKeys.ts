/** Keys for a list that work anywhere on its page: `/` to search, `j` and `k` to move, space to act on the current row. */

import { useEffect, useRef } from "react";

export interface ListKeys {
  readonly onSearch: () => void;
  readonly onMove: (step: 1 | -1) => void;
  /** Returns whether there was a row to act on. Otherwise the key has its usual effect. */
  readonly onAct: () => boolean;
}

export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (isElsewhere(event)) return;
      if (act(event.key, latest.current)) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

function isElsewhere(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const at = event.target as HTMLElement;
  if (at.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]")) return true;
  return event.key === " " && at.closest("button, [role=switch], [role=tab], summary") !== null;
}

/** Returns whether the key was handled. */
function act(key: string, { onSearch, onMove, onAct }: ListKeys): boolean {
  switch (key) {
    case "/":
      onSearch();
      return true;
    case "j":
    case "k":
      onMove(key === "j" ? 1 : -1);
      return true;
    case " ":
      return onAct();
    default:
      return false;
  }
}
