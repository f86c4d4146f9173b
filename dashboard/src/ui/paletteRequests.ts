/** Requests to open the command palette or the list of keys, made by a key on any page or by a button. */

import { isShortcut } from "./singleKeys";

const listeners = new Set<() => void>();

export const isMac = /Mac OS X|iPhone|iPad/.test(navigator.userAgent);

export function requestPalette(): void {
  for (const listener of listeners) listener();
}

/** Calls back on every request. Returns a function that stops this. */
export function onPaletteRequest(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const keysListeners = new Set<() => void>();

export function requestKeys(): void {
  for (const listener of keysListeners) listener();
}

/** Calls back on every request for the list of keys. Returns a function that stops this. */
export function onKeysRequest(listener: () => void): () => void {
  keysListeners.add(listener);
  return () => keysListeners.delete(listener);
}

let typed = "";

/** Keeps the text that is typed from now on, because its field does not exist yet. */
export function keepTyped(): void {
  window.addEventListener("keydown", keep, true); // before the keys of the page
}

/** Returns the text that was typed in the meantime, and stops keeping it. */
export function takeTyped(): string {
  window.removeEventListener("keydown", keep, true);
  const taken = typed;
  typed = "";
  return taken;
}

function keep(event: KeyboardEvent): void {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key.length > 1 && event.key !== "Backspace") return;
  event.preventDefault(); // the element that has the focus until then must not receive it
  typed = event.key === "Backspace" ? typed.slice(0, -1) : typed + event.key;
}

window.addEventListener("keydown", (event) => {
  if (event.key === "?" && isShortcut(event)) {
    event.preventDefault();
    requestKeys();
  }
  if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    requestPalette();
  }
});
