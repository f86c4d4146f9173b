/** The wish to see the command palette: by key anywhere, or by button. */

const listeners = new Set<() => void>();

export const isMac = /Mac OS X|iPhone|iPad/.test(navigator.userAgent);

export function wishForPalette(): void {
  for (const listener of listeners) listener();
}

/** Calls back with every wish; returns what stops that. */
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
