/** Keys that act on a list from anywhere on its page: `/` searches, `j` and `k` move, space acts on the current row. */

import { useEffect, useRef } from "react";

export interface ListKeys {
  readonly onSearch: () => void;
  readonly onMove: (step: 1 | -1) => void;
  /** Returns whether there was a row to act on; if not, the key keeps its usual effect. */
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

/** Returns whether the key was one of ours. */
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
