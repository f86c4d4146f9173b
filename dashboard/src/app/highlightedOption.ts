/**
 * Mantine's comboboxes remember the place of the highlighted option, and a key clicks what is there. After others have
 * changed the options, that is a neighbour. So the click goes to the highlighted option instead, or nowhere if it is gone.
 */

let pressed: KeyboardEvent | null = null;

window.addEventListener("keydown", (event) => (pressed = event), true);

window.addEventListener(
  "click",
  (event) => {
    const isByKey = pressed !== null && pressed.eventPhase !== Event.NONE; // while the key is being handled
    const option = (event.target as Element).closest("[data-combobox-option]");
    if (!isByKey || !option || option.matches("[data-combobox-selected]")) return;
    event.stopPropagation();
    option.closest("[role=listbox]")?.querySelector<HTMLElement>("[data-combobox-selected]")?.click();
  },
  true,
);
