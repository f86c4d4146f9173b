/** Requests to open the command palette, made by a key on any page or by a button. */

const listeners = new Set<() => void>();

export const isMac = /Mac OS X|iPhone|iPad/.test(navigator.userAgent);

export function wishForPalette(): void {
  for (const listener of listeners) listener();
}

/** Calls back on every request. Returns a function that stops this. */
export function onPaletteWish(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

window.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    wishForPalette();
  }
});
