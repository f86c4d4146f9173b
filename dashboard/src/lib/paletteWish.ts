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

let typed = "";

/** Keeps what is typed from now on, because the field for it is not there yet. */
export function keepTyped(): void {
  window.addEventListener("keydown", keep);
}

/** What was typed meanwhile. From now on, it is not kept any more. */
export function takeTyped(): string {
  window.removeEventListener("keydown", keep);
  const taken = typed;
  typed = "";
  return taken;
}

function keep(event: KeyboardEvent): void {
  if (event.key.length > 1 || event.metaKey || event.ctrlKey || event.altKey) return;
  event.preventDefault(); // what has the focus until then must not take it
  typed += event.key;
}

window.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    wishForPalette();
  }
});
