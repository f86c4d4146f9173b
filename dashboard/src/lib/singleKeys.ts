/**
 * Shortcuts of a single key, such as `/` and `j`. They can be turned off, because speech input types what it hears (WCAG
 * 2.1.4). Like the appearance, the choice is kept in the browser: it depends on how people work at a device, and it
 * applies before anything is loaded.
 */

import { useSyncExternalStore } from "react";

const STORAGE_KEY = "flagstaff.single-keys-off";
const ELSEWHERE = "input, textarea, select, [contenteditable], [role=dialog], [role=menu]";

const listeners = new Set<() => void>();

function areOn(): boolean {
  return localStorage.getItem(STORAGE_KEY) === null;
}

export function turnSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, "yes");
  for (const listener of listeners) listener();
}

/** Whether they are on, in all tabs of this browser. */
export function useSingleKeys(): boolean {
  return useSyncExternalStore(onChange, areOn);
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener); // another tab
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Whether this is a shortcut: a key alone, outside of fields, dialogs and menus, and not turned off. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  return areOn() && (event.target as Element).closest(ELSEWHERE) === null;
}
