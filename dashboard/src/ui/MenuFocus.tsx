/**
 * Where a menu's focus starts. Mantine gives the focus to `data-autofocus` twice, a moment apart: the second time must not
 * take it back from an entry that a key has reached in between.
 */

import type { FocusEvent } from "react";

function handOn({ currentTarget }: FocusEvent<HTMLElement>) {
  currentTarget.removeAttribute("tabindex"); // nothing can give it the focus again
  const menu = currentTarget.closest("[role=menu]");
  const first = menu?.querySelector<HTMLElement>("[data-menu-item]:not(:disabled)");
  first?.focus({ preventScroll: true });
}

export function MenuFocus() {
  return <div role="presentation" tabIndex={-1} data-autofocus onFocus={handOn} />;
}
