/** Scrolls a row of links, of which some may be out of view, to the current one. */
export function showCurrent(row: HTMLElement | null): void {
  const current = row?.querySelector("[aria-current=page], [data-current]");
  if (row && current) row.scrollLeft += middleOf(current) - middleOf(row);
}

function middleOf(element: Element): number {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}
