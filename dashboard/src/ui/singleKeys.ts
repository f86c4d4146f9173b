/**
 * Shortcuts of a single key, such as `/` and `j`. They can be turned off, because speech input types what it hears (WCAG
 * 2.1.4). Like the appearance, the choice is kept in the browser: it depends on how people work at a device, and it
 * applies before anything is loaded.
 */

import { storedChoice } from "./storedChoice";

const turnedOff = storedChoice("flagstaff.single-keys-off");
const ELSEWHERE = "input, textarea, select, [contenteditable], [role=dialog], [role=menu]";

export function turnSingleKeys(on: boolean): void {
  turnedOff.make(!on);
}

/** Whether they are on, in all tabs of this browser. */
export function useSingleKeys(): boolean {
  return !turnedOff.useIsMade();
}

/** Whether this is a shortcut: a key alone, outside of fields, dialogs and menus, and not turned off. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  return !turnedOff.isMade() && (event.target as Element).closest(ELSEWHERE) === null;
}
